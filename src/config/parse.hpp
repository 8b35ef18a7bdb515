// JSON text to a tree, strictly: reports syntax errors as source:line:column, duplicate keys, too deep nesting, numbers
// beyond a double and malformed UTF-8. Comments are skipped. For readers of JSON that is no described document; the
// others have Document.
#pragma once

#include "core/error.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <string_view>

namespace servecast::config {

// False, with problems, if text is not one well-formed JSON value; root is then incomplete.
bool parse(std::string_view text, const std::string& source, nlohmann::json& root, core::Problems& problems);

}  // namespace servecast::config
