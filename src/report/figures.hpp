// Numbers and text as people read them in a terminal: three significant digits, thousands separated, control characters
// and broken UTF-8 replaced. A width is a number of code points: names in wide scripts may take more columns.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace servecast::report {

// "0.0123", "4.56", "312", "12,346"; whole above 999; "1.25e+13" and "1.25e-05" far out. At most 15 characters.
std::string figure(double value);
std::string figure(double value, std::string_view unit);  // "312 ms"
std::string figure_if(bool known, double value);          // "-" where it is not known
std::string usd_if(bool known, double amount);
std::string percent(double share);  // "12.3 %"
std::string usd(double amount);     // "$0.421", "$1,250"

// What a sentence shows of a name that the user chose.
inline constexpr std::size_t name_width = 40;
// Replaces control characters by a space and malformed bytes by '?'.
std::string printable(std::string_view text);
std::size_t width_of(std::string_view text);
// Cut to a width, with "..." where something is missing. Requires: width >= 3.
std::string cut_to(std::string_view text, std::size_t width);
// Broken at spaces into lines of at most `width`; longer words are split.
std::vector<std::string> wrap(std::string_view text, std::size_t width);

}  // namespace servecast::report
