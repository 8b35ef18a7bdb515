// Named counter-based random streams (Philox4x32-10, Salmon et al. 2011). A stream is a pure function of
// (seed, name, draw index): adding a consumer never shifts another, and variants can share common random numbers.
// Distributions are our own because std:: ones differ between libraries.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace servecast::core {

std::array<std::uint32_t, 4> philox4x32_10(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key);

// One step of splitmix64: advances state and returns the output (Steele et al. 2014).
std::uint64_t splitmix64(std::uint64_t& state);

class Random {
 public:
  // name says entity and purpose, e.g. "workload/arrivals" or "replica/3/acceptance".
  Random(std::uint64_t seed, std::string_view name);

  std::uint64_t next();                  // 64 uniform bits
  double uniform();                      // [0, 1), 53 bits
  double uniform_open();                 // (0, 1): safe for log
  std::uint64_t below(std::uint64_t n);  // uniform integer in [0, n), unbiased; Requires: n > 0
  double exponential(double mean);       // inversion
  double normal();                       // inversion, see normal_quantile
  double lognormal(double mu, double sigma);
  double gamma(double shape, double scale);       // Marsaglia-Tsang, boosted for shape < 1
  double weibull(double shape, double scale);     // inversion
  std::uint64_t draws() const { return draws_; }  // 64-bit outputs consumed

 private:
  std::array<std::uint32_t, 2> key_;
  std::uint64_t block_ = 0;
  std::array<std::uint64_t, 2> buffer_{};
  int left_ = 0;
  std::uint64_t draws_ = 0;
};

// Inverse of the standard normal law; absolute error below 1e-9. Requires: 0 < p < 1.
double normal_quantile(double p);

}  // namespace servecast::core
