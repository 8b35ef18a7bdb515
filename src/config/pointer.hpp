// JSON pointers (RFC 6901) as text: "/pools/0/engine", "" for the whole document; "~" and "/" in keys are escaped.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace servecast::config {

std::string child(std::string_view pointer, std::string_view key);
std::string child(std::string_view pointer, std::size_t index);

// The keys of a pointer, unescaped; none if it neither is empty nor starts with "/", or has a bad escape.
std::optional<std::vector<std::string>> keys_of(std::string_view pointer);

// A list index without sign or leading zeros; none otherwise.
std::optional<std::size_t> index_of(std::string_view key);

}  // namespace servecast::config
