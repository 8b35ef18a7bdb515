// SHA-256 (FIPS 180-4), to name the exact files that a result or a profile comes from.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace servecast::core {

class Sha256 {
 public:
  void add(std::string_view bytes);
  std::string digest() const;  // of all that was added: 64 hexadecimal digits

 private:
  using State = std::array<std::uint32_t, 8>;
  static void mix(State& state, const char* block);

  State state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::string tail_;  // less than a block
  std::uint64_t bytes_ = 0;
};

std::string sha256(std::string_view bytes);
std::string sha256_of_file(const std::string& path);  // throws core::Error if it cannot be read

}  // namespace servecast::core
