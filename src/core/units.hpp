// Sizes, counts and rates as people read them. Bytes are binary (KiB, GiB); rates and counts are decimal (k, M, G).
// For people only: files and JSON carry plain numbers with the unit in the key.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace servecast::core {

inline constexpr double KiB = 1024.0;
inline constexpr double MiB = 1024.0 * KiB;
inline constexpr double GiB = 1024.0 * MiB;
inline constexpr double TiB = 1024.0 * GiB;

std::string bytes_text(double bytes);                             // "37.1 GiB"
std::string count_text(std::int64_t count);                       // "30,425"
std::string counted(std::int64_t count, std::string_view noun);   // "1 node", "30,425 nodes"
std::string short_text(double value);                             // "1.25 M"
std::string rate_text(double per_second, std::string_view what);  // "1.25 MB/s" for what = "B/s"
std::string percent_text(double share);                           // "12.3 %" for 0.123
std::string number_text(double value);                            // three digits, no exponent: "0.0123", "152"

}  // namespace servecast::core
