#include "precision/format.hpp"

#include "core/error.hpp"

namespace servecast::precision {
namespace {

// How elements and their scales are laid out. Sources: OCP Microscaling Formats 1.0 (MX: 32 elements, one E8M0 byte);
// NVIDIA NVFP4 (16 elements, one E4M3 byte, one FP32 per tensor); DeepSeek-V3 report (FP8 weights: one FP32 per
// 128 x 128 block); int4 group-wise: one 16-bit scale per group, no zero points.
struct Layout {
  std::int64_t bits = 0;        // of one element
  std::int64_t block_rows = 0;  // 0: no block scales
  std::int64_t block_columns = 0;
  std::int64_t scale_bytes = 0;   // per block
  std::int64_t tensor_bytes = 0;  // per tensor
};

Layout layout(Format f) {
  switch (f) {
    case Format::Float32: return {32, 0, 0, 0, 0};
    case Format::BFloat16: return {16, 0, 0, 0, 0};
    case Format::Float16: return {16, 0, 0, 0, 0};
    case Format::Fp8: return {8, 0, 0, 0, 4};
    case Format::Fp8Block: return {8, 128, 128, 4, 0};
    case Format::Nvfp4: return {4, 1, 16, 1, 4};
    case Format::Mxfp4: return {4, 1, 32, 1, 0};
    case Format::Mxfp8: return {8, 1, 32, 1, 0};
    case Format::Int8: return {8, 0, 0, 0, 4};
    case Format::Int4Group128: return {4, 1, 128, 2, 0};
    case Format::Int4Group32: return {4, 1, 32, 2, 0};
  }
  SERVECAST_ENSURE(false, "unknown number format {}", static_cast<int>(f));
  return {};
}

std::int64_t ceil_divide(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

}  // namespace

double bytes_per_element(Format f) {
  const Layout l = layout(f);
  const double element = static_cast<double>(l.bits) / 8.0;
  if (l.block_rows == 0) return element;
  return element + static_cast<double>(l.scale_bytes) / static_cast<double>(l.block_rows * l.block_columns);
}

double activation_bytes(Format f) {
  if (f == Format::Fp8Block) return 1.0 + 4.0 / 128.0;  // activations are scaled in 1 x 128 tiles
  return bytes_per_element(f);
}

std::int64_t matrix_bytes(Format f, std::int64_t rows, std::int64_t columns) {
  SERVECAST_ENSURE(rows >= 0 && columns >= 0, "matrix of {} x {}", rows, columns);
  if (rows == 0 || columns == 0) return 0;
  const Layout l = layout(f);
  return ceil_divide(rows * columns * l.bits, 8) + l.tensor_bytes + scale_bytes(f, rows, columns);
}

std::int64_t scale_bytes(Format f, std::int64_t rows, std::int64_t columns) {
  const Layout l = layout(f);
  if (l.block_rows == 0) return 0;
  return ceil_divide(rows, l.block_rows) * ceil_divide(columns, l.block_columns) * l.scale_bytes;
}

bool is_four_bit(Format f) { return layout(f).bits == 4; }

std::string_view name(Format f) { return format_names[static_cast<std::size_t>(f)]; }

}  // namespace servecast::precision
