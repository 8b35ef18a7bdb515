#include "fabric/profile.hpp"

#include "config/fields.hpp"
#include "hardware/provenance.hpp"

#include <fmt/core.h>

namespace servecast::fabric {
namespace {

using config::above;
using config::closed;

constexpr double longest_us = 1e6;

void numbers(config::Fields& f, ScaleUp& s) {
  f.required("per_direction_gb_s", s.per_direction_gb_s, above(0, 1e5), "nominal GB/s per GPU and direction");
  f.field("max_ranks", s.max_ranks, closed(2, 1024), "GPUs in one domain");
  f.required("ranks_2", s.ranks_2, "all-reduce between 2 GPUs");
  f.field("ranks_4", s.ranks_4, "all-reduce among 4 GPUs");
  f.field("ranks_8", s.ranks_8, "all-reduce among 8 GPUs");
  f.field("ranks_72", s.ranks_72, "all-reduce among 72 GPUs");
  f.field("nvls", s.nvls, "reduction inside the switch");
  f.field("send_us", s.send_us, closed(0, longest_us), "latency of one point-to-point message");
  f.field("send_achieved", s.send_achieved, closed(0, 1), "share of the nominal bandwidth of one message");
}

void check_point(std::string_view key, const RankPoint& p, const hardware::Complain& complain) {
  const bool given = p.one_shot_us > 0 || p.two_shot_us > 0 || p.ring_us > 0;
  if (given && p.achieved == 0) complain(key, "has latencies but no achieved bandwidth share; give achieved");
  if (p.achieved > 0 && p.ring_us == 0)
    complain(key, "has no ring_us; the library collective has no size limit and is needed");
}

}  // namespace

void describe(config::Fields& f, RankPoint& p) {
  f.field("one_shot_us", p.one_shot_us, closed(0, longest_us), "latency of the one-shot kernel");
  f.field("one_shot_max_kib", p.one_shot_max_kib, closed(0, 1e9),
          "largest buffer of the one-shot kernel, 0: never used");
  f.field("two_shot_us", p.two_shot_us, closed(0, longest_us), "latency of the two-shot kernel");
  f.field("two_shot_max_kib", p.two_shot_max_kib, closed(0, 1e9),
          "largest buffer of the two-shot kernel, 0: never used");
  f.field("ring_us", p.ring_us, closed(0, longest_us), "latency of the library's ring, all steps");
  f.field("achieved", p.achieved, closed(0, 1), "share of the nominal bandwidth moved per rank and direction");
}

void describe(config::Fields& f, Nvls& n) {
  f.field("min_ranks", n.min_ranks, closed(0, 1024), "fewest ranks for which it is used, 0: never");
  f.field("latency_us", n.latency_us, closed(0, longest_us), "latency");
  f.field("fraction", n.fraction, closed(0, 1), "full-buffer bytes per second over the nominal bandwidth");
}

void check(const ScaleUp& s, const hardware::Complain& complain) {
  if (s.ranks_2.achieved == 0) complain("ranks_2", "has no achieved bandwidth share; every fabric needs its pair");
  check_point("ranks_2", s.ranks_2, complain);
  check_point("ranks_4", s.ranks_4, complain);
  check_point("ranks_8", s.ranks_8, complain);
  check_point("ranks_72", s.ranks_72, complain);
  if (s.nvls.min_ranks > 0 && s.nvls.fraction == 0) complain("nvls", "has min_ranks but no bandwidth; give fraction");
  if (s.send_achieved == 0) complain("send_achieved", "is 0; give the share of the bandwidth one message reaches");
  ScaleUp copy = s;
  hardware::check_origin(hardware::number_keys([&copy](config::Fields& f) { numbers(f, copy); }), s.origin, complain);
}

void describe(config::Fields& f, ScaleUp& s) {
  f.required("name", s.name, "name nodes refer to");
  numbers(f, s);
  f.field("note", s.note, "what the numbers leave out");
  f.required("origin", s.origin, "source and kind of every number");
  if (f.reading()) check(s, [&f](std::string_view key, const std::string& message) { f.problem(key, message); });
}

}  // namespace servecast::fabric
