// JSON text to a tree, strictly: reports syntax errors as source:line:column, duplicate keys, too deep nesting, numbers
// beyond a double and malformed UTF-8. Comments are skipped. Internal to config.
#pragma once

#include "core/error.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <string_view>

namespace servecast::config {

// False, with problems, if text is not one well-formed JSON value; root is then incomplete.
bool parse(std::string_view text, const std::string& source, nlohmann::json& root, core::Problems& problems);

}  // namespace servecast::config
