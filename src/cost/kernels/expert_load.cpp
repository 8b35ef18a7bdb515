#include "cost/kernels/expert_load.hpp"

#include "core/random.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

namespace servecast::cost::kernels {

namespace {

constexpr std::uint64_t draws = 5;  // random routings averaged
// Range of the weights: 1 to this share of the tokens, or the two below where experts outnumber token copies.
// Specified: routing of the benchmark that made the tables (ai-dynamo/aiconfigurator, collector).
constexpr double hot_share = 0.8;
constexpr double sparse_low = 0.01;
constexpr double sparse_high = 2;

double rounded_up(double rows, double tile) { return std::ceil(rows / tile) * tile; }

ExpertLoad balanced(double tokens, double experts, double top_k, double ep) {
  ExpertLoad load;
  load.rows = std::ceil(tokens * top_k / ep);
  load.active = std::min(experts / ep, load.rows);
  const double each = std::ceil(load.rows / load.active);
  load.rows_by_16 = load.active * rounded_up(each, 16);
  load.rows_by_64 = load.active * rounded_up(each, 64);
  return load;
}

// Experts by count, the smallest first.
std::vector<std::size_t> smallest_first(const std::vector<double>& counts) {
  std::vector<std::size_t> order(counts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&counts](std::size_t a, std::size_t b) { return counts[a] < counts[b]; });
  return order;
}

// Whole numbers up to `tokens` each that sum to `total`: what is missing is added one by one to the smallest experts,
// what is too much is taken from them, or from the largest where they are empty.
void settle(std::vector<double>& counts, double tokens, double total) {
  for (double& c : counts) c = std::min(c, tokens);
  double left = total - std::accumulate(counts.begin(), counts.end(), 0.0);
  const std::vector<std::size_t> order = smallest_first(counts);
  for (std::size_t i = 0; left > 0; i = (i + 1) % order.size())
    if (counts[order[i]] < tokens) counts[order[i]] += 1, left -= 1;
  for (std::size_t i = 0; left < 0; i = (i + 1) % order.size(), left += 1)
    (counts[order[i]] > 0 ? counts[order[i]] : *std::max_element(counts.begin(), counts.end())) -= 1;
}

// The group with most rows.
ExpertLoad busiest(const std::vector<double>& counts, std::size_t groups) {
  const std::size_t size = counts.size() / groups;
  std::size_t best = 0;
  double most = -1;
  for (std::size_t g = 0; g < groups; ++g) {
    const auto first = counts.begin() + static_cast<std::ptrdiff_t>(g * size);
    const double rows = std::accumulate(first, first + static_cast<std::ptrdiff_t>(size), 0.0);
    if (rows > most) most = rows, best = g;
  }
  ExpertLoad load;
  load.rows = most;
  for (std::size_t i = best * size; i < (best + 1) * size; ++i) {
    load.active += counts[i] > 0 ? 1 : 0;
    load.rows_by_16 += rounded_up(counts[i], 16);
    load.rows_by_64 += rounded_up(counts[i], 64);
  }
  return load;
}

}  // namespace

std::vector<double> expert_counts(std::uint64_t seed, double tokens, double experts, double top_k, double alpha) {
  core::Random random(seed, "cost/expert_load");
  const bool crowded = tokens * top_k > experts;
  const double low = std::pow(crowded ? 1.0 : sparse_low, 1 - alpha);
  const double high = std::pow(crowded ? std::max(hot_share * tokens, 1.0001) : sparse_high, 1 - alpha);
  std::vector<double> weights(static_cast<std::size_t>(experts));
  double sum = 0;
  for (double& w : weights) {
    w = std::pow(random.uniform() * (high - low) + low, 1 / (1 - alpha));
    sum += w;
  }
  for (double& w : weights) w = std::round(tokens * top_k * w / sum);
  settle(weights, tokens, tokens * top_k);
  return weights;
}

ExpertLoad expert_load(double tokens, double experts, double top_k, double ep, double alpha) {
  if (alpha == 0) return balanced(tokens, experts, top_k, ep);
  ExpertLoad sum;
  for (std::uint64_t seed = 1; seed <= draws; ++seed) {
    const ExpertLoad one = busiest(expert_counts(seed, tokens, experts, top_k, alpha), static_cast<std::size_t>(ep));
    sum.rows += one.rows / draws;
    sum.active += one.active / draws;
    sum.rows_by_16 += one.rows_by_16 / draws;
    sum.rows_by_64 += one.rows_by_64 / draws;
  }
  return sum;
}

}  // namespace servecast::cost::kernels
