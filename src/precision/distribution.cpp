#include "precision/distribution.hpp"

#include "config/fields.hpp"
#include "core/error.hpp"
#include "core/random.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

namespace servecast::precision {
namespace {

double laplace(core::Random& random) {
  const double u = random.uniform_open() - 0.5;
  return (u < 0 ? 1.0 : -1.0) * std::log(1.0 - 2.0 * std::abs(u));
}

double value(const Distribution& d, core::Random& random) {
  switch (d.law) {
    case Law::Gaussian: return random.normal();
    case Law::Laplace: return laplace(random);
    case Law::StudentT: {
      const double z = random.normal();
      return z / std::sqrt(random.gamma(d.freedom / 2.0, 2.0 / d.freedom));
    }
  }
  return 0;
}

// Distinct columns, by a partial shuffle.
std::vector<std::size_t> outliers(const Distribution& d, std::int64_t columns, core::Random random) {
  if (!(d.outlier_share > 0)) return {};
  std::vector<std::size_t> all(static_cast<std::size_t>(columns));
  std::iota(all.begin(), all.end(), std::size_t{0});
  const double wanted = std::max(1.0, std::round(d.outlier_share * static_cast<double>(columns)));
  const std::size_t count = std::min(all.size(), static_cast<std::size_t>(wanted));
  for (std::size_t i = 0; i < count; ++i) std::swap(all[i], all[i + random.below(all.size() - i)]);
  all.resize(count);
  return all;
}

}  // namespace

void describe(config::Fields& f, Distribution& d) {
  f.field("distribution", d.law, "law of the ordinary values; its scale does not matter");
  f.field("degrees_of_freedom", d.freedom, config::closed(least_freedom, most_freedom),
          "of student-t: few mean heavy tails");
  f.field("outlier_share", d.outlier_share, {0, 1, false, true}, "share of channels that stand out");
  f.field("outlier_factor", d.outlier_factor, config::closed(1, most_outlier_factor), "how much larger those are");
  if (!f.reading()) return;
  if (d.outlier_share > 0 && d.outlier_factor == 1)
    f.problem("outlier_factor", "absent although outlier_share is above 0; say how much larger those channels are");
}

std::optional<Distribution> parse_distribution(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view head = text.substr(0, colon);
  Distribution d;
  const auto* const found = std::find(std::begin(law_names), std::end(law_names), head);
  if (found == std::end(law_names)) return std::nullopt;
  d.law = static_cast<Law>(found - std::begin(law_names));
  if (colon == std::string_view::npos) return d;
  const std::string_view number = text.substr(colon + 1);
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), d.freedom);
  const bool whole = error == std::errc{} && end == number.data() + number.size();
  if (d.law != Law::StudentT || !whole || !(d.freedom >= least_freedom && d.freedom <= most_freedom))
    return std::nullopt;
  return d;
}

std::string text(const Distribution& d) {
  std::string out(law_names[static_cast<std::size_t>(d.law)]);
  if (d.law == Law::StudentT) out += fmt::format(":{:g}", d.freedom);
  if (d.outlier_share > 0) out += fmt::format(", {:g} % of columns x {:g}", d.outlier_share * 100.0, d.outlier_factor);
  return out;
}

std::vector<float> draw(const Distribution& d, std::int64_t rows, std::int64_t columns, std::uint64_t seed,
                        std::string_view purpose) {
  SERVECAST_ENSURE(rows > 0 && columns > 0, "matrix of {} x {}", rows, columns);
  core::Random random(seed, fmt::format("numerics/{}/values", purpose));
  std::vector<float> out(static_cast<std::size_t>(rows * columns));
  for (float& x : out) x = static_cast<float>(value(d, random));
  const auto width = static_cast<std::size_t>(columns);
  for (const std::size_t c : outliers(d, columns, core::Random(seed, fmt::format("numerics/{}/outliers", purpose))))
    for (std::size_t i = c; i < out.size(); i += width)
      out[i] = static_cast<float>(static_cast<double>(out[i]) * d.outlier_factor);
  return out;
}

}  // namespace servecast::precision
