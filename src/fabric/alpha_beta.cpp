#include "fabric/alpha_beta.hpp"

#include "core/error.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace servecast::fabric {
namespace {

constexpr double kib = 1024.0;
constexpr double gb = 1e9;
constexpr double us = 1e-6;
// The ring of an all-reduce has twice the steps of a reduce-scatter or an all-gather.
constexpr double half_ring = 0.5;

struct Placed {
  double log2_ranks = 0;
  const RankPoint* point = nullptr;
};

struct Bracket {
  const RankPoint* low = nullptr;
  const RankPoint* high = nullptr;
  double weight = 0;  // of high; above 1 beyond the last point
};

Bracket bracket(const ScaleUp& f, double log2_ranks) {
  const std::array<Placed, 4> all = {
      {{1.0, &f.ranks_2}, {2.0, &f.ranks_4}, {3.0, &f.ranks_8}, {std::log2(72.0), &f.ranks_72}}};
  Placed low = all[0];
  Placed high = all[0];
  for (const Placed& p : all) {
    if (p.point->achieved == 0 || p.log2_ranks <= high.log2_ranks) continue;
    if (high.log2_ranks >= log2_ranks) break;
    low = high;
    high = p;
  }
  if (low.point == high.point || log2_ranks <= low.log2_ranks) return {low.point, high.point, 0.0};
  return {low.point, high.point, (log2_ranks - low.log2_ranks) / (high.log2_ranks - low.log2_ranks)};
}

double grown(double low, double high, double weight) {
  return std::max(low + (high - low) * weight, std::min(low, high));
}
double held(double low, double high, double weight) { return low + (high - low) * std::min(weight, 1.0); }

// A size limit is not interpolated: the kernels switch by rank class, so the next larger class decides.
double limit(double low, double high, double weight) { return weight > 0 ? high : low; }

Collective cost(double latency_s, double bytes, double bytes_per_s, Algorithm a) {
  return {latency_s, bytes / bytes_per_s, bytes, a};
}

Collective faster(const Collective& a, const Collective& b) { return b.total_s() < a.total_s() ? b : a; }

}  // namespace

std::string_view name(Algorithm a) {
  constexpr std::array<std::string_view, 6> names = {"none", "one-shot", "two-shot", "ring", "nvls", "direct"};
  return names[static_cast<std::size_t>(a)];
}

Group group_of(const ScaleUp& f, std::int32_t ranks) {
  SERVECAST_ENSURE(ranks >= 1, "a group of {} ranks", ranks);
  Group g;
  g.ranks = ranks;
  g.send_s = f.send_us * us;
  g.send_bytes_per_s = f.per_direction_gb_s * gb * f.send_achieved;
  if (ranks == 1) return g;
  const Bracket b = bracket(f, std::log2(static_cast<double>(ranks)));
  const double w = b.weight;
  g.bytes_per_s = f.per_direction_gb_s * gb * held(b.low->achieved, b.high->achieved, w);
  g.one_shot_s = us * grown(b.low->one_shot_us, b.high->one_shot_us, w);
  g.two_shot_s = us * grown(b.low->two_shot_us, b.high->two_shot_us, w);
  g.ring_s = us * grown(b.low->ring_us, b.high->ring_us, w);
  g.one_shot_max_bytes = kib * limit(b.low->one_shot_max_kib, b.high->one_shot_max_kib, w);
  g.two_shot_max_bytes = kib * limit(b.low->two_shot_max_kib, b.high->two_shot_max_kib, w);
  if (f.nvls.min_ranks > 0 && ranks >= f.nvls.min_ranks) {
    g.nvls_s = f.nvls.latency_us * us;
    g.nvls_bytes_per_s = f.per_direction_gb_s * gb * f.nvls.fraction;
  }
  return g;
}

Collective all_reduce(const Group& g, double bytes) {
  if (g.ranks == 1 || bytes <= 0) return {};
  const double n = g.ranks;
  const double through = 2.0 * (n - 1.0) / n * bytes;
  Collective best = cost(g.ring_s, through, g.bytes_per_s, Algorithm::Ring);
  if (bytes <= g.one_shot_max_bytes) {
    best = faster(best, cost(g.one_shot_s, (n - 1.0) * bytes, g.bytes_per_s, Algorithm::OneShot));
  }
  if (bytes <= g.two_shot_max_bytes)
    best = faster(best, cost(g.two_shot_s, through, g.bytes_per_s, Algorithm::TwoShot));
  if (g.nvls_bytes_per_s > 0) {
    // The switch reduces: a rank sends its buffer and a share of the result once.
    Collective nvls = cost(g.nvls_s, bytes, g.nvls_bytes_per_s, Algorithm::Nvls);
    nvls.bytes_sent = bytes * (1.0 + 1.0 / n);
    best = faster(best, nvls);
  }
  return best;
}

Collective all_gather(const Group& g, double bytes) {
  if (g.ranks == 1 || bytes <= 0) return {};
  const double through = (g.ranks - 1.0) / g.ranks * bytes;
  Collective best = cost(g.ring_s * half_ring, through, g.bytes_per_s, Algorithm::Ring);
  if (bytes <= g.one_shot_max_bytes) best = faster(best, cost(g.one_shot_s, through, g.bytes_per_s, Algorithm::Direct));
  return best;
}

Collective reduce_scatter(const Group& g, double bytes) { return all_gather(g, bytes); }

Collective all_to_all(const Group& g, double bytes) {
  if (g.ranks == 1 || bytes <= 0) return {};
  return cost(g.ring_s * half_ring, (g.ranks - 1.0) / g.ranks * bytes, g.bytes_per_s, Algorithm::Direct);
}

Collective send(const Group& g, double bytes) {
  if (bytes <= 0) return {};
  return cost(g.send_s, bytes, g.send_bytes_per_s, Algorithm::Direct);
}

}  // namespace servecast::fabric
