#include "core/sha256.hpp"

#include "core/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <vector>

namespace servecast::core {

namespace {

constexpr std::size_t block = 64;

// Fractional parts of the cube roots of the first 64 primes (FIPS 180-4, 4.2.2).
constexpr std::array<std::uint32_t, 64> constants = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

std::uint32_t big_endian(const char* p) {
  std::uint32_t word = 0;
  for (int i = 0; i < 4; ++i) word = word << 8 | static_cast<unsigned char>(p[i]);
  return word;
}

}  // namespace

void Sha256::mix(State& s, const char* p) {
  std::array<std::uint32_t, 64> w{};
  for (std::size_t i = 0; i < 16; ++i) w[i] = big_endian(p + 4 * i);
  for (std::size_t i = 16; i < 64; ++i) {
    const std::uint32_t a = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ (w[i - 15] >> 3);
    const std::uint32_t b = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ (w[i - 2] >> 10);
    w[i] = w[i - 16] + a + w[i - 7] + b;
  }
  State v = s;
  for (std::size_t i = 0; i < 64; ++i) {
    const std::uint32_t e = std::rotr(v[4], 6) ^ std::rotr(v[4], 11) ^ std::rotr(v[4], 25);
    const std::uint32_t one = v[7] + e + ((v[4] & v[5]) ^ (~v[4] & v[6])) + constants[i] + w[i];
    const std::uint32_t a = std::rotr(v[0], 2) ^ std::rotr(v[0], 13) ^ std::rotr(v[0], 22);
    const std::uint32_t two = a + ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
    v = {one + two, v[0], v[1], v[2], v[3] + one, v[4], v[5], v[6]};
  }
  for (std::size_t i = 0; i < 8; ++i) s[i] += v[i];
}

void Sha256::add(std::string_view bytes) {
  bytes_ += bytes.size();
  if (!tail_.empty()) {
    const std::size_t missing = std::min(block - tail_.size(), bytes.size());
    tail_ += bytes.substr(0, missing);
    bytes.remove_prefix(missing);
    if (tail_.size() < block) return;
    mix(state_, tail_.data());
    tail_.clear();
  }
  for (; bytes.size() >= block; bytes.remove_prefix(block)) mix(state_, bytes.data());
  tail_ = bytes;
}

std::string Sha256::digest() const {
  State s = state_;
  std::string tail = tail_ + '\x80';
  while (tail.size() % block != 56) tail += '\0';
  for (int shift = 56; shift >= 0; shift -= 8) tail += static_cast<char>(bytes_ * 8 >> shift & 0xff);
  for (std::size_t i = 0; i < tail.size(); i += block) mix(s, tail.data() + i);
  std::string out;
  for (const std::uint32_t word : s) out += fmt::format("{:08x}", word);
  return out;
}

std::string sha256(std::string_view bytes) {
  Sha256 hash;
  hash.add(bytes);
  return hash.digest();
}

std::string sha256_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw core::Error(fmt::format("cannot read {}", path));
  Sha256 hash;
  std::vector<char> chunk(1 << 16);
  while (file.read(chunk.data(), static_cast<std::streamsize>(chunk.size())), file.gcount() > 0)
    hash.add({chunk.data(), static_cast<std::size_t>(file.gcount())});
  return hash.digest();
}

}  // namespace servecast::core
