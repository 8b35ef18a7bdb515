// Workloads, drains and a server for the tests of sources.
#pragma once

#include "core/error.hpp"
#include "workload/make_source.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace servecast::workload {

inline LengthConfig fixed(std::int32_t value) {
  LengthConfig c;
  c.value = value;
  return c;
}

inline LengthConfig lognormal_by(double mean, double p99) {
  LengthConfig c;
  c.distribution = Distribution::Lognormal;
  c.mean = mean;
  c.p99 = p99;
  return c;
}

inline WorkloadConfig open_loop(double rate, std::int64_t requests) {
  WorkloadConfig c;
  c.arrivals.emplace();
  c.arrivals->rate_per_s = rate;
  c.input_tokens = lognormal_by(1155, 4142);
  c.output_tokens = lognormal_by(211, 601);
  c.requests = requests;
  return c;
}

inline std::vector<Request> drain(Source& source) {
  std::vector<Request> requests;
  while (source.next_arrival() != core::Time::never()) requests.push_back(source.take());
  return requests;
}

inline std::vector<Request> drain(const WorkloadConfig& c, std::uint64_t seed = 1, SourceLimits limits = {}) {
  SourceReport report;
  return drain(*make_source(c, seed, limits, report));
}

inline std::vector<std::string> refusal(const WorkloadConfig& c, SourceLimits limits = {}) {
  try {
    drain(c, 1, limits);
  } catch (const core::InputError& error) {
    return error.lines();
  }
  return {};
}

// Serves every request in a time of its own and tells the source, in order of completion.
class FakeServer {
 public:
  FakeServer(Source& source, core::Duration per_output) : source_(source), per_output_(per_output) {}

  void run(std::size_t most = 1000000) {
    while (served.size() < most) {
      const core::Time arrival = source_.next_arrival();
      const auto first = std::min_element(running_.begin(), running_.end());
      if (first != running_.end() && first->first <= arrival) {
        const auto [at, id] = *first;
        running_.erase(first);
        source_.ended(RequestId{id}, at);
        ends.push_back(at);
        continue;
      }
      if (arrival == core::Time::never()) return;
      Request request = source_.take();
      running_.emplace_back(arrival + per_output_ * request.hidden.output_tokens, request.id.value);
      peak = std::max(peak, running_.size());
      served.push_back(std::move(request));
    }
  }

  std::vector<Request> served;
  std::vector<core::Time> ends;
  std::size_t peak = 0;

 private:
  Source& source_;
  core::Duration per_output_;
  std::vector<std::pair<core::Time, std::uint32_t>> running_;
};

}  // namespace servecast::workload
