// Random tensors to compare formats on: independent values of a law around zero, and channels that stand out, as the
// inputs of transformer layers have them. Same seed, same values, on any machine; the unit does not matter.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace servecast::config {
class Fields;
}

namespace servecast::precision {

enum class Law : std::uint8_t { Gaussian, Laplace, StudentT };
inline constexpr std::string_view law_names[] = {"gaussian", "laplace", "student-t"};
constexpr std::span<const std::string_view> names_of(Law) { return law_names; }

struct Distribution {
  Law law = Law::Gaussian;
  double freedom = 5;         // degrees of freedom of Student's t; few mean heavy tails
  double outlier_share = 0;   // of all columns; at least one when above 0
  double outlier_factor = 1;  // their values are that much larger

  bool operator==(const Distribution&) const = default;
};

void describe(config::Fields& f, Distribution& d);

inline constexpr double least_freedom = 1;
inline constexpr double most_freedom = 1000;
inline constexpr double most_outlier_factor = 1e6;

// "gaussian", "laplace", "student-t" or "student-t:3"; nothing when it is none of them.
std::optional<Distribution> parse_distribution(std::string_view text);
std::string text(const Distribution& d);

// Row-major. purpose names the random streams. Requires: rows, columns > 0.
std::vector<float> draw(const Distribution& d, std::int64_t rows, std::int64_t columns, std::uint64_t seed,
                        std::string_view purpose);

}  // namespace servecast::precision
