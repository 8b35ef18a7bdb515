// Text from outside made safe to show or to write: UTF-8 well-formedness, and bytes a terminal would act upon.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace servecast::config {

// Bytes of the well-formed UTF-8 character that text starts with; 0 if it starts with none.
std::size_t utf8_character(std::string_view text);
bool is_utf8(std::string_view text);

// For messages: control characters and malformed bytes become '?', and text beyond limit bytes is cut to "...".
std::string printable(std::string_view text, std::size_t limit = 80);

}  // namespace servecast::config
