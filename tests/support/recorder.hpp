// An observer that keeps everything two engines must agree on, and a cost of round numbers.
#pragma once

#include "cost/step_cost.hpp"
#include "engine/replica.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

namespace servecast::test {

struct Recorder : engine::Observer {
  using Event = std::tuple<std::int64_t, int, std::uint32_t, std::int64_t>;  // time, kind, request, value
  std::vector<Event> events;
  std::map<std::int64_t, std::int64_t> gaps;  // ps -> how many

  void first_token(workload::RequestId id, core::Time at) override { events.emplace_back(at.ps, 0, id.value, 0); }
  void finished(workload::RequestId id, core::Time at, std::int32_t tokens) override {
    events.emplace_back(at.ps, 1, id.value, tokens);
  }
  void preempted(workload::RequestId id, core::Time at) override { events.emplace_back(at.ps, 2, id.value, 0); }
  void prefix_lookup(workload::RequestId id, std::int32_t queried, std::int32_t hit, bool again) override {
    lookups.emplace_back(id.value, queried, hit, again ? 1 : 0);
  }
  void token_gap(core::Duration gap, std::int64_t weight) override { gaps[gap.ps] += weight; }

  std::vector<std::tuple<std::uint32_t, std::int32_t, std::int32_t, int>> lookups;
  void sort() { std::sort(events.begin(), events.end()); }
};

// step = base + per_token x tokens + per_decoder x decoders + per_context x context / 1000, in ns.
struct RoundCost : cost::StepCost {
  std::int64_t base = 1000, per_token = 10, per_decoder = 3, per_context = 2;
  std::int32_t window = 0;

  core::Duration chunk(std::int32_t from, std::int32_t to) const override {
    return {static_cast<std::int64_t>(to - from) * (from + to) / 2};
  }
  cost::StepTime step(const cost::StepShape& s) const override {
    const std::int64_t context = window > 0 ? s.decode_context_windowed : s.decode_context;
    cost::StepTime t;
    t.host = {base * 1000};
    t.compute = {(per_token * s.prefill_tokens + per_decoder * s.sampled_rows) * 1000 + s.prefill_attention.ps};
    t.memory = {per_decoder * s.decode_requests * 1000 + per_context * context};
    t.total = t.host + t.compute + t.memory;
    return t;
  }
  cost::StepTime step(const cost::StepShape& s, const cost::LinkOffer&) const override { return step(s); }
  std::int32_t needs_window() const override { return window; }
};

}  // namespace servecast::test
