#include "precision/tensor_file.hpp"

#include "core/error.hpp"
#include "precision/minifloat.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>

namespace servecast::precision {
namespace {

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::size_t most_header = 1 << 16;
constexpr std::size_t chunk_elements = 1 << 18;

std::size_t bytes_of(FileType t) {
  switch (t) {
    case FileType::Float64: return 8;
    case FileType::Float32: return 4;
    case FileType::BFloat16:
    case FileType::Float16: return 2;
  }
  return 0;
}

std::uint64_t little_endian(const char* bytes, std::size_t count) {
  std::uint64_t n = 0;
  for (std::size_t i = 0; i < count; ++i) n |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  return n;
}

double value_of(FileType t, const char* bytes) {
  const std::uint64_t n = little_endian(bytes, bytes_of(t));
  switch (t) {
    case FileType::Float64: return std::bit_cast<double>(n);
    case FileType::Float32: return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(n)));
    case FileType::BFloat16: return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(n) << 16));
    case FileType::Float16: return static_cast<double>(decode(float16, static_cast<std::uint32_t>(n)));
  }
  return 0;
}

std::ifstream open(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    throw core::Error(fmt::format("cannot read {}: it is a directory", path));
  std::ifstream in(path, std::ios::binary);
  if (!in) throw core::Error(fmt::format("cannot read {}: {}", path, std::strerror(errno)));
  return in;
}

// Bytes from here to the end of the file.
std::uintmax_t left(std::ifstream& in, const std::string& path) {
  const auto here = in.tellg();
  in.seekg(0, std::ios::end);
  const auto end = in.tellg();
  in.seekg(here);
  if (!in || here < 0 || end < here) throw core::Error(fmt::format("cannot read {}: its size is unknown", path));
  return static_cast<std::uintmax_t>(end - here);
}

void read(std::ifstream& in, char* to, std::size_t bytes, const std::string& path) {
  in.read(to, static_cast<std::streamsize>(bytes));
  if (static_cast<std::size_t>(in.gcount()) == bytes) return;
  if (in.bad()) throw core::Error(fmt::format("cannot read {}: {}", path, std::strerror(errno)));
  throw core::InputError(path, "the file ends inside its header");
}

float narrowed(double value, std::size_t index, const std::string& path) {
  const double most = std::numeric_limits<float>::max();
  if (std::isfinite(value) && std::abs(value) > most)
    throw core::InputError(path, fmt::format("element {} is {}, beyond FP32; scale the tensor", index, value));
  return static_cast<float>(value);
}

Tensor read_values(std::ifstream& in, const std::string& path, const RawLayout& layout) {
  const auto count = static_cast<std::size_t>(elements_of(layout.shape, path));
  const std::size_t width = bytes_of(layout.type);
  if (const std::uintmax_t bytes = left(in, path); bytes != count * width)
    throw core::InputError(path, fmt::format("{} bytes of values, but {} elements of {} need {}", bytes, count,
                                             file_type_names[static_cast<std::size_t>(layout.type)], count * width));
  Tensor t{std::vector<float>(count), layout.shape, layout.type};
  std::vector<char> buffer(std::min(count, chunk_elements) * width);
  for (std::size_t at = 0; at < count; at += chunk_elements) {
    const std::size_t n = std::min(chunk_elements, count - at);
    read(in, buffer.data(), n * width, path);
    for (std::size_t i = 0; i < n; ++i)
      t.values[at + i] = narrowed(value_of(layout.type, buffer.data() + i * width), at + i, path);
  }
  return t;
}

}  // namespace

std::int64_t Tensor::columns() const { return shape.empty() ? 1 : shape.back(); }

std::int64_t Tensor::rows() const { return static_cast<std::int64_t>(values.size()) / columns(); }

Tensor read_npy(const std::string& path) {
  std::ifstream in = open(path);
  std::string start(magic.size() + 2, '\0');
  if (left(in, path) < start.size()) throw core::InputError(path, "too short for a .npy file");
  read(in, start.data(), start.size(), path);
  if (std::string_view(start).substr(0, magic.size()) != magic)
    throw core::InputError(path,
                           "no .npy file: it does not start with \\x93NUMPY; for raw values give --dtype and "
                           "--shape");
  const int version = static_cast<unsigned char>(start[magic.size()]);
  if (version < 1 || version > 3)
    throw core::InputError(path, fmt::format("version {} of the .npy format is not read; known: 1, 2, 3", version));
  char length[4] = {};
  const std::size_t width = version == 1 ? 2 : 4;
  read(in, length, width, path);
  const std::uint64_t size = little_endian(length, width);
  if (size > most_header) throw core::InputError(path, fmt::format("a header of {} bytes is no array's", size));
  std::string header(size, '\0');
  read(in, header.data(), header.size(), path);
  return read_values(in, path, parse_npy_header(header, path));
}

Tensor read_raw(const std::string& path, const RawLayout& layout) {
  std::ifstream in = open(path);
  return read_values(in, path, layout);
}

}  // namespace servecast::precision
