// How a matrix is quantised: elements, block shape, scales. A block's scale maps the largest finite magnitude of the
// block to the largest value of the elements. Blocks are cut off at the edges of the matrix. docs/models/precision.md
// has the formulas; what engines store, sizes included, is in format.hpp.
#pragma once

#include "precision/format.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace servecast::precision {

enum class Element : std::uint8_t { E2M1, E4M3, E5M2, Int4, Int8, BFloat16, Float16, Float32 };
// TwoLevel: E4M3 per block over one FP32 per tensor (NVFP4).
enum class Scale : std::uint8_t { None, Float32, BFloat16, Ue8m0, TwoLevel };

struct Scheme {
  std::string_view name;
  Element element = Element::BFloat16;
  Scale scale = Scale::None;
  std::int64_t block_rows = 0;  // 0: all of the matrix
  std::int64_t block_columns = 0;
};

// Every scheme there is, narrowest elements last.
std::span<const Scheme> schemes();
// The one of that name, or nothing.
std::optional<Scheme> find_scheme(std::string_view name);
// The scheme by which weights or activations become this format.
Scheme scheme_of(Format format);

int element_bits(Element element);
int scale_bytes(Scale scale);  // of one block; TwoLevel: without the tensor's
// Storage of a rows x columns matrix with its scales, bits per element. Requires: rows, columns > 0.
double bits_per_element(const Scheme& scheme, std::int64_t rows, std::int64_t columns);

}  // namespace servecast::precision
