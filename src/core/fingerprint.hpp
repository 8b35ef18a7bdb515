// A 64-bit summary of a trajectory: two runs agree in it exactly when they did the same things at the same times (up to
// 2^-64). A sum of mixed hashes, so the order of adding does not matter and partial fingerprints can be merged.
#pragma once

#include "core/time.hpp"

#include <cstdint>
#include <string>

namespace servecast::core {

class Fingerprint {
 public:
  // kind says what happened, id to whom.
  void add(std::uint64_t kind, std::uint64_t id, Time at);
  void merge(const Fingerprint& other) { sum_ += other.sum_; }
  std::uint64_t value() const { return sum_; }
  std::string text() const;  // 16 hexadecimal digits

 private:
  std::uint64_t sum_ = 0;
};

}  // namespace servecast::core
