#include "core/random.hpp"

#include "core/error.hpp"

#include <cmath>

namespace servecast::core {

namespace {

__extension__ using Wide = unsigned __int128;

// The output function of splitmix64 by itself: a bijection that mixes every bit into every other.
std::uint64_t mixed(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

// Key of a stream: seed and name absorbed byte by byte. Two streams collide with probability 2^-64.
std::uint64_t stream_key(std::uint64_t seed, std::string_view name) {
  std::uint64_t state = seed;
  std::uint64_t hash = splitmix64(state);
  for (const char c : name) hash = mixed((hash ^ static_cast<unsigned char>(c)) + 0x9E3779B97F4A7C15u);
  return mixed(hash ^ name.size());
}

}  // namespace

// Constants and round structure: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
std::array<std::uint32_t, 4> philox4x32_10(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key) {
  auto [a, b, c, d] = counter;
  auto [k0, k1] = key;
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product0 = std::uint64_t{0xD2511F53u} * a;
    const std::uint64_t product1 = std::uint64_t{0xCD9E8D57u} * c;
    a = static_cast<std::uint32_t>(product1 >> 32) ^ b ^ k0;
    b = static_cast<std::uint32_t>(product1);
    c = static_cast<std::uint32_t>(product0 >> 32) ^ d ^ k1;
    d = static_cast<std::uint32_t>(product0);
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return {a, b, c, d};
}

std::uint64_t splitmix64(std::uint64_t& state) {
  state += 0x9E3779B97F4A7C15u;
  return mixed(state);
}

Random::Random(std::uint64_t seed, std::string_view name) {
  const std::uint64_t key = stream_key(seed, name);
  key_ = {static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(key >> 32)};
}

std::uint64_t Random::next() {
  if (left_ == 0) {
    const std::array<std::uint32_t, 4> words =
        philox4x32_10({static_cast<std::uint32_t>(block_), static_cast<std::uint32_t>(block_ >> 32), 0, 0}, key_);
    ++block_;
    buffer_ = {words[0] | std::uint64_t{words[1]} << 32, words[2] | std::uint64_t{words[3]} << 32};
    left_ = 2;
  }
  ++draws_;
  return buffer_[static_cast<std::size_t>(2 - left_--)];
}

double Random::uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }

// Adding 0.5 below 2^52 is exact; from there on it rounds, and the largest value would become 1. 52 bits avoid that.
double Random::uniform_open() { return (static_cast<double>(next() >> 12) + 0.5) * 0x1p-52; }

// Lemire, "Fast random integer generation in an interval", 2019: the high word of a product, with the biased low
// products drawn again.
std::uint64_t Random::below(std::uint64_t n) {
  SERVECAST_ENSURE(n > 0, "an empty range has no random member");
  Wide product = Wide{next()} * n;
  if (static_cast<std::uint64_t>(product) < n) {
    const std::uint64_t biased = (0 - n) % n;
    while (static_cast<std::uint64_t>(product) < biased) product = Wide{next()} * n;
  }
  return static_cast<std::uint64_t>(product >> 64);
}

double Random::exponential(double mean) { return -mean * std::log(uniform_open()); }

double Random::normal() { return normal_quantile(uniform_open()); }

double Random::lognormal(double mu, double sigma) { return std::exp(mu + sigma * normal()); }

// Marsaglia, Tsang, "A simple method for generating gamma variables", 2000. Shapes below 1 use
// gamma(a) = gamma(a + 1) * U^(1/a). Rejection: the number of draws consumed varies.
double Random::gamma(double shape, double scale) {
  SERVECAST_ENSURE(shape > 0 && scale >= 0, "gamma of shape {} and scale {}", shape, scale);
  if (shape < 1) {
    const double boost = std::exp(std::log(uniform_open()) / shape);
    return gamma(shape + 1, scale) * boost;
  }
  const double d = shape - 1.0 / 3.0;
  const double c = 1.0 / std::sqrt(9.0 * d);
  while (true) {
    const double x = normal();
    const double root = 1.0 + c * x;
    if (root <= 0) continue;
    const double v = root * root * root;
    if (std::log(uniform_open()) < 0.5 * x * x + d - d * v + d * std::log(v)) return scale * d * v;
  }
}

double Random::weibull(double shape, double scale) {
  SERVECAST_ENSURE(shape > 0 && scale >= 0, "weibull of shape {} and scale {}", shape, scale);
  return scale * std::pow(-std::log(uniform_open()), 1.0 / shape);
}

namespace {

template <std::size_t n>
double polynomial(const std::array<double, n>& c, double x) {
  double sum = c[n - 1];
  for (std::size_t i = n - 1; i > 0; --i) sum = sum * x + c[i - 1];
  return sum;
}

// Rational approximations of Wichura, "Algorithm AS 241: the percentage points of the normal distribution", 1988
// (coefficients: published there, relative error about 1e-16 each in its region).
using Coefficients = std::array<double, 8>;
constexpr Coefficients centre_over = {3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3,
                                      1.3731693765509461125e4, 4.5921953931549871457e4, 6.7265770927008700853e4,
                                      3.3430575583588128105e4, 2.5090809287301226727e3};
constexpr Coefficients centre_under = {1.0,
                                       4.2313330701600911252e1,
                                       6.8718700749205790830e2,
                                       5.3941960214247511077e3,
                                       2.1213794301586595867e4,
                                       3.9307895800092710610e4,
                                       2.8729085735721942674e4,
                                       5.2264952788528545610e3};
constexpr Coefficients tail_over = {1.42343711074968357734e0,  4.63033784615654529590e0, 5.76949722146069140550e0,
                                    3.64784832476320460504e0,  1.27045825245236838258e0, 2.41780725177450611770e-1,
                                    2.27238449892691845833e-2, 7.74545014278341407640e-4};
constexpr Coefficients tail_under = {1.0,
                                     2.05319162663775882187e0,
                                     1.67638483018380384940e0,
                                     6.89767334985100004550e-1,
                                     1.48103976427480074590e-1,
                                     1.51986665636164571966e-2,
                                     5.47593808499534494600e-4,
                                     1.05075007164441684324e-9};
constexpr Coefficients far_over = {6.65790464350110377720e0,  5.46378491116411436990e0,  1.78482653991729133580e0,
                                   2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
                                   2.71155556874348757815e-5, 2.01033439929228813265e-7};
constexpr Coefficients far_under = {1.0,
                                    5.99832206555887937690e-1,
                                    1.36929880922735805310e-1,
                                    1.48753612908506148525e-2,
                                    7.86869131145613259100e-4,
                                    1.84631831751005468180e-5,
                                    1.42151175831644588870e-7,
                                    2.04426310338993978564e-15};

}  // namespace

double normal_quantile(double p) {
  SERVECAST_ENSURE(p > 0 && p < 1, "the normal law has no quantile at {}", p);
  const double q = p - 0.5;
  if (std::abs(q) <= 0.425) {
    const double r = 0.180625 - q * q;
    return q * polynomial(centre_over, r) / polynomial(centre_under, r);
  }
  const double r = std::sqrt(-std::log(q < 0 ? p : 1.0 - p));
  const double x = r <= 5.0 ? polynomial(tail_over, r - 1.6) / polynomial(tail_under, r - 1.6)
                            : polynomial(far_over, r - 5.0) / polynomial(far_under, r - 5.0);
  return q < 0 ? -x : x;
}

}  // namespace servecast::core
