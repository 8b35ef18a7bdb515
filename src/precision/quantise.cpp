#include "precision/quantise.hpp"

#include "core/error.hpp"
#include "precision/minifloat.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

namespace servecast::precision {
namespace {

constexpr float least_scale = 0x1p-126F;          // the smallest normal FP32: scales never underflow
constexpr float two_level_range = 6.0F * 448.0F;  // largest element times largest block scale
constexpr int int4_most = 7;                      // symmetric: -8 is not used
constexpr int int8_most = 127;

const Minifloat* minifloat_of(Element e) {
  switch (e) {
    case Element::E2M1: return &e2m1;
    case Element::E4M3: return &e4m3;
    case Element::E5M2: return &e5m2;
    case Element::BFloat16: return &bfloat16;
    case Element::Float16: return &float16;
    default: return nullptr;
  }
}

bool has_nan(Element e) {
  const Minifloat* f = minifloat_of(e);
  return f != nullptr && f->nan_code != 0;
}

int integer_most(Element e) { return e == Element::Int4 ? int4_most : int8_most; }

std::uint32_t element_code(Element e, float value, Overflow overflow) {
  if (const Minifloat* f = minifloat_of(e)) return encode(*f, value, overflow);
  if (e == Element::Float32) return std::bit_cast<std::uint32_t>(value);
  const auto n = static_cast<std::uint32_t>(round_to_integer(value, integer_most(e)));
  return e == Element::Int4 ? n & 0xFU : n & 0xFFU;
}

float element_value(Element e, std::uint32_t code) {
  if (const Minifloat* f = minifloat_of(e)) return decode(*f, code);
  if (e == Element::Float32) return std::bit_cast<float>(code);
  const int sign = e == Element::Int4 ? 0x8 : 0x80;
  const int value = static_cast<int>(code);
  return static_cast<float>((value ^ sign) - sign);
}

// The part of a matrix that one scale covers.
struct Block {
  std::int64_t row = 0, rows = 0, column = 0, columns = 0;
};

struct Extremes {
  float amax = 0;
  bool nan = false;
};

Extremes extremes(std::span<const float> values, std::int64_t width, const Block& b) {
  Extremes e;
  for (std::int64_t r = b.row; r < b.row + b.rows; ++r) {
    for (std::int64_t c = b.column; c < b.column + b.columns; ++c) {
      const float magnitude = std::abs(values[static_cast<std::size_t>(r * width + c)]);
      if (std::isnan(magnitude)) e.nan = true;
      if (std::isfinite(magnitude)) e.amax = std::max(e.amax, magnitude);
    }
  }
  return e;
}

// Code of a block's scale.
std::uint32_t scale_code(const Scheme& s, const Extremes& e, float tensor_scale) {
  const bool lost = e.nan && !has_nan(s.element);
  const float fit = std::max(e.amax / (s.scale == Scale::None ? 1.0F : largest(s.element)), least_scale);
  switch (s.scale) {
    case Scale::None: return 0;
    case Scale::Float32: return lost ? 0x7FC00000U : std::bit_cast<std::uint32_t>(fit);
    case Scale::BFloat16: return lost ? bfloat16.nan_code : encode(bfloat16, fit);
    case Scale::Ue8m0: return lost ? ue8m0_nan : ue8m0_floor(e.amax, minifloat_of(s.element)->max_exponent);
    case Scale::TwoLevel: return lost ? e4m3.nan_code : encode(e4m3, e.amax / e2m1.max / tensor_scale);
  }
  return 0;
}

float scale_value(const Scheme& s, std::uint32_t code, float tensor_scale) {
  switch (s.scale) {
    case Scale::None: return 1.0F;
    case Scale::Float32: return std::bit_cast<float>(code);
    case Scale::BFloat16: return decode(bfloat16, code);
    case Scale::Ue8m0: return ue8m0_decode(code);
    case Scale::TwoLevel: return decode(e4m3, code) * tensor_scale;
  }
  return 1.0F;
}

void put(std::vector<std::uint8_t>& bytes, std::size_t at, std::uint32_t code, int width) {
  for (int i = 0; i < width; ++i) bytes[at + static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(code >> (8 * i));
}

std::uint32_t get(const std::vector<std::uint8_t>& bytes, std::size_t at, int width) {
  std::uint32_t code = 0;
  for (int i = 0; i < width; ++i) code |= std::uint32_t{bytes[at + static_cast<std::size_t>(i)]} << (8 * i);
  return code;
}

void put_element(Quantised& q, std::int64_t index, std::uint32_t code) {
  const int bits = element_bits(q.scheme.element);
  const auto i = static_cast<std::size_t>(index);
  if (bits == 4)
    q.elements[i / 2] = static_cast<std::uint8_t>(q.elements[i / 2] | code << (i % 2 * 4));
  else
    put(q.elements, i * static_cast<std::size_t>(bits / 8), code, bits / 8);
}

std::uint32_t get_element(const Quantised& q, std::int64_t index) {
  const int bits = element_bits(q.scheme.element);
  const auto i = static_cast<std::size_t>(index);
  if (bits == 4) return q.elements[i / 2] >> (i % 2 * 4) & 0xFU;
  return get(q.elements, i * static_cast<std::size_t>(bits / 8), bits / 8);
}

template <typename Visit>
void each_block(const Quantised& q, const Visit& visit) {
  const std::int64_t height = q.scheme.block_rows == 0 ? q.rows : q.scheme.block_rows;
  const std::int64_t width = q.scheme.block_columns == 0 ? q.columns : q.scheme.block_columns;
  std::size_t index = 0;
  for (std::int64_t r = 0; r < q.rows; r += height)
    for (std::int64_t c = 0; c < q.columns; c += width)
      visit(index++, Block{r, std::min(height, q.rows - r), c, std::min(width, q.columns - c)});
}

void quantise_block(Quantised& q, std::span<const float> values, const Block& b, float scale) {
  // Conversion without a scale keeps infinities; a scaled element has its place within the largest.
  const Overflow overflow = q.scheme.scale == Scale::None ? Overflow::Special : Overflow::Saturate;
  const bool zero = !(scale > 0);  // NaN too
  for (std::int64_t r = b.row; r < b.row + b.rows; ++r) {
    for (std::int64_t c = b.column; c < b.column + b.columns; ++c) {
      const std::int64_t i = r * q.columns + c;
      const float x = values[static_cast<std::size_t>(i)];
      put_element(q, i, zero ? 0 : element_code(q.scheme.element, x / scale, overflow));
    }
  }
}

// Values of every code of an element of at most 8 bits.
std::vector<float> values_of_codes(Element e) {
  std::vector<float> out(std::size_t{1} << element_bits(e));
  for (std::uint32_t code = 0; code < out.size(); ++code) out[code] = element_value(e, code);
  return out;
}

}  // namespace

float largest(Element e) {
  if (const Minifloat* f = minifloat_of(e)) return f->max;
  SERVECAST_ENSURE(e != Element::Float32, "FP32 elements have no scale");
  return static_cast<float>(integer_most(e));
}

std::int64_t Quantised::block_columns() const {
  return scheme.block_columns == 0 ? 1 : (columns + scheme.block_columns - 1) / scheme.block_columns;
}

std::int64_t Quantised::block_rows() const {
  return scheme.block_rows == 0 ? 1 : (rows + scheme.block_rows - 1) / scheme.block_rows;
}

Quantised quantise(const Scheme& scheme, std::span<const float> values, std::int64_t rows, std::int64_t columns) {
  SERVECAST_ENSURE(rows > 0 && columns > 0 && static_cast<std::int64_t>(values.size()) == rows * columns,
                   "{} values of a {} x {} matrix", values.size(), rows, columns);
  Quantised q{scheme, rows, columns, {}, {}, 1.0F};
  q.elements.resize((values.size() * static_cast<std::size_t>(element_bits(scheme.element)) + 7) / 8);
  const int width = scale_bytes(scheme.scale);
  q.scales.resize(static_cast<std::size_t>(q.block_rows() * q.block_columns() * width));
  if (scheme.scale == Scale::TwoLevel)
    q.tensor_scale = std::max(extremes(values, columns, {0, rows, 0, columns}).amax / two_level_range, least_scale);
  each_block(q, [&](std::size_t index, const Block& b) {
    const std::uint32_t code =
        scheme.scale == Scale::None ? 0 : scale_code(scheme, extremes(values, columns, b), q.tensor_scale);
    put(q.scales, index * static_cast<std::size_t>(width), code, width);
    quantise_block(q, values, b, scale_value(scheme, code, q.tensor_scale));
  });
  return q;
}

std::vector<float> dequantise(const Quantised& q) {
  std::vector<float> out(static_cast<std::size_t>(q.rows * q.columns));
  const int width = scale_bytes(q.scheme.scale);
  const bool table = element_bits(q.scheme.element) <= 8;
  const std::vector<float> known = table ? values_of_codes(q.scheme.element) : std::vector<float>();
  each_block(q, [&](std::size_t index, const Block& b) {
    const float scale =
        scale_value(q.scheme, get(q.scales, index * static_cast<std::size_t>(width), width), q.tensor_scale);
    for (std::int64_t r = b.row; r < b.row + b.rows; ++r) {
      for (std::int64_t c = b.column; c < b.column + b.columns; ++c) {
        const std::int64_t i = r * q.columns + c;
        const std::uint32_t code = get_element(q, i);
        out[static_cast<std::size_t>(i)] = (table ? known[code] : element_value(q.scheme.element, code)) * scale;
      }
    }
  });
  return out;
}

std::vector<std::uint8_t> pack(std::span<const std::uint16_t> codes, int bits) {
  SERVECAST_ENSURE(bits == 4 || bits == 8 || bits == 16, "codes of {} bits", bits);
  std::vector<std::uint8_t> bytes((codes.size() * static_cast<std::size_t>(bits) + 7) / 8);
  for (std::size_t i = 0; i < codes.size(); ++i) {
    if (bits == 4)
      bytes[i / 2] = static_cast<std::uint8_t>(bytes[i / 2] | (codes[i] & 0xFU) << (i % 2 * 4));
    else
      put(bytes, i * static_cast<std::size_t>(bits / 8), codes[i], bits / 8);
  }
  return bytes;
}

std::vector<std::uint16_t> unpack(std::span<const std::uint8_t> bytes, int bits, std::int64_t count) {
  SERVECAST_ENSURE(bits == 4 || bits == 8 || bits == 16, "codes of {} bits", bits);
  SERVECAST_ENSURE(count >= 0 && static_cast<std::int64_t>(bytes.size()) * 8 >= count * bits,
                   "{} codes of {} bits in {} bytes", count, bits, bytes.size());
  std::vector<std::uint16_t> codes(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < codes.size(); ++i) {
    if (bits == 4)
      codes[i] = static_cast<std::uint16_t>(bytes[i / 2] >> (i % 2 * 4) & 0xF);
    else if (bits == 8)
      codes[i] = bytes[i];
    else
      codes[i] = static_cast<std::uint16_t>(bytes[2 * i] | bytes[2 * i + 1] << 8);
  }
  return codes;
}

}  // namespace servecast::precision
