// A user's tensor from disk as FP32: NumPy's .npy (versions 1.0 to 3.0, little-endian f2, f4 and f8, C order) or raw
// little-endian values. What is not understood is refused by name; f8 is rounded to FP32, and refused beyond its range.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace servecast::precision {

enum class FileType : std::uint8_t { Float32, BFloat16, Float16, Float64 };
inline constexpr std::string_view file_type_names[] = {"float32", "bfloat16", "float16", "float64"};
constexpr std::span<const std::string_view> names_of(FileType) { return file_type_names; }

struct Tensor {
  std::vector<float> values;
  std::vector<std::int64_t> shape;
  FileType type = FileType::Float32;

  // As a matrix: the last dimension is its columns, all others together its rows.
  std::int64_t columns() const;
  std::int64_t rows() const;
};

inline constexpr std::int64_t most_tensor_elements = std::int64_t{1} << 28;

struct RawLayout {
  FileType type = FileType::Float32;
  std::vector<std::int64_t> shape;
};

// Throw core::Error when the file cannot be read, core::InputError when its content is wrong.
Tensor read_npy(const std::string& path);
Tensor read_raw(const std::string& path, const RawLayout& layout);

// What the header of a .npy file says. text: the dictionary. Throws core::InputError naming place.
RawLayout parse_npy_header(std::string_view text, const std::string& place);

// Product of a shape. Throws core::InputError naming place: no element, or more than most_tensor_elements.
std::int64_t elements_of(std::span<const std::int64_t> shape, const std::string& place);

}  // namespace servecast::precision
