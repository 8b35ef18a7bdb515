// Text from outside made safe to show or to write: UTF-8 well-formedness, and bytes a terminal would act upon.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace servecast::config {

// Bytes of the well-formed UTF-8 character that text starts with; 0 if it starts with none.
std::size_t utf8_character(std::string_view text);
bool is_utf8(std::string_view text);

// For messages: control characters and malformed bytes become '?', and text beyond limit bytes is cut to its beginning
// and its length.
std::string printable(std::string_view text, std::size_t limit = 80);

// A whole message made fit to show: printable but for its line ends, and every word or quotation of more than 200 bytes
// cut to its beginning and its length.
std::string brief(std::string_view message);

}  // namespace servecast::config
