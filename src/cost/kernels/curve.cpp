#include "cost/kernels/curve.hpp"

#include "config/fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace servecast::cost::kernels {

void describe(config::Fields& f, Curve& c) {
  f.required("op", c.op, "all_reduce, all_gather, reduce_scatter or alltoall");
  f.required("mode", c.mode, "graph, eager or nccl");
  f.required("ranks", c.ranks, config::closed(2, 1024), "GPUs taking part");
  f.required("bytes", c.bytes, config::above(0), "message sizes, ascending");
  f.required("us", c.us, config::above(0), "time of each");
  if (!f.reading()) return;
  if (c.bytes.empty() || c.bytes.size() != c.us.size())
    f.problem("us", fmt::format("{} times for {} sizes", c.us.size(), c.bytes.size()));
  if (std::adjacent_find(c.bytes.begin(), c.bytes.end(), [](double a, double b) { return !(a < b); }) != c.bytes.end())
    f.problem("bytes", "sizes must be ascending");
}

void CurveSet::add(const Curve& c) {
  One one{c.ranks, {}, {}};
  for (const double b : c.bytes) one.log_bytes.push_back(std::log2(b));
  for (const double t : c.us) one.log_us.push_back(std::log(t));
  const auto place = std::find_if(curves_.begin(), curves_.end(), [&c](const One& o) { return o.ranks > c.ranks; });
  curves_.insert(place, std::move(one));
}

double CurveSet::log_time(const One& c, double log_bytes) {
  if (log_bytes <= c.log_bytes.front()) return c.log_us.front();
  constexpr double ln_2 = 0.693147180559945309;
  if (log_bytes >= c.log_bytes.back()) return c.log_us.back() + (log_bytes - c.log_bytes.back()) * ln_2;
  const auto above = std::upper_bound(c.log_bytes.begin(), c.log_bytes.end(), log_bytes);
  const auto i = static_cast<std::size_t>(above - c.log_bytes.begin());
  const double w = (log_bytes - c.log_bytes[i - 1]) / (c.log_bytes[i] - c.log_bytes[i - 1]);
  return c.log_us[i - 1] * (1 - w) + c.log_us[i] * w;
}

bool CurveSet::time(double bytes, std::int32_t ranks, CurveTime& out) const {
  if (curves_.empty() || ranks < curves_.front().ranks || ranks > curves_.back().ranks) return false;
  std::size_t i = 0;
  while (curves_[i].ranks < ranks) ++i;
  const double x = std::log2(std::max(bytes, 1.0));
  const One& above = curves_[i];
  double t = log_time(above, x);
  if (above.ranks != ranks) {
    const One& below = curves_[i - 1];
    const double q = std::log2(double(ranks) / below.ranks) / std::log2(double(above.ranks) / below.ranks);
    t = log_time(below, x) * (1 - q) + t * q;
  }
  out.us = std::exp(t);
  out.interpolated = above.ranks != ranks;
  out.outside = x < above.log_bytes.front() || x > above.log_bytes.back();
  return true;
}

}  // namespace servecast::cost::kernels
