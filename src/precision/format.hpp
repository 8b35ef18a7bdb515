// Number formats and their storage cost. Bits include the block scales that travel with the elements.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace servecast::precision {

enum class Format : std::uint8_t {
  Float32,
  BFloat16,
  Float16,
  Fp8,
  Fp8Block,
  Nvfp4,
  Mxfp4,
  Mxfp8,
  Int8,
  Int4Group128,
  Int4Group32
};

inline constexpr std::array<std::string_view, 11> format_names = {
    "fp32", "bf16", "fp16", "fp8", "fp8_block", "nvfp4", "mxfp4", "mxfp8", "int8", "int4_g128", "int4_g32"};
constexpr std::span<const std::string_view> names_of(Format) { return format_names; }

// Storage bytes per element with its share of block scales (SPEC 3.6): nvfp4 0.5625, mxfp4 0.53125, fp8_block 1 +
// 4/16384.
double bytes_per_element(Format f);
// Bytes per activation element: like bytes_per_element, but fp8_block activations carry one FP32 scale per 128
// elements.
double activation_bytes(Format f);
// Exact bytes of a stored rows x columns matrix, scale blocks rounded up to whole ones (blocks run along the columns)
// and per-tensor scales included. Requires: rows, columns >= 0.
std::int64_t matrix_bytes(Format f, std::int64_t rows, std::int64_t columns);
// Of those, the bytes of block scales.
std::int64_t scale_bytes(Format f, std::int64_t rows, std::int64_t columns);
// True for formats whose elements are 4 bits wide.
bool is_four_bit(Format f);
std::string_view name(Format f);

}  // namespace servecast::precision
