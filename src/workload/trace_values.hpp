// Numbers and instants as traces write them, read exactly (no floating point for plain decimals). Every function throws
// InputError with the given place, naming the field, its value and what is expected.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace servecast::workload {

struct FieldPlace {
  const std::string& place;  // "file:line"
  std::string_view name;     // of the column or key
};

// A token count from 0 to 2^31 - 1.
std::int32_t token_count(std::string_view text, const FieldPlace& at);

// A decimal number of units of ns_per_unit nanoseconds, >= 0, cut to whole nanoseconds.
std::int64_t decimal_ns(std::string_view text, std::int64_t ns_per_unit, const FieldPlace& at);

// "2023-11-16 18:17:03.9799600", 'T' for the space, optional "Z" or "+00:00": nanoseconds since 1970. Years 1970-2200.
std::int64_t date_ns(std::string_view text, const FieldPlace& at);

// A value in quotes for messages: cut after 40 bytes, control characters masked.
std::string excerpt(std::string_view text);

}  // namespace servecast::workload
