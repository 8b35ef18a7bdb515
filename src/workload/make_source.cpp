#include "workload/make_source.hpp"

#include "core/error.hpp"
#include "workload/length_gate.hpp"
#include "workload/sources.hpp"

namespace servecast::workload {

namespace {

template <typename T>
void check_part(const std::string& place, const T& part, core::Problems& problems) {
  check(part, [&](std::string_view key, const std::string& message) {
    problems.add(key.empty() ? place : fmt::format("{}/{}", place, key), message);
  });
}

void check_all(const WorkloadConfig& c) {
  core::Problems problems;
  check_part("workload", c, problems);
  if (c.arrivals) check_part("workload/arrivals", *c.arrivals, problems);
  if (c.input_tokens) check_part("workload/input_tokens", *c.input_tokens, problems);
  if (c.output_tokens) check_part("workload/output_tokens", *c.output_tokens, problems);
  if (c.sessions) {
    check_part("workload/sessions", *c.sessions, problems);
    check_part("workload/sessions/arrivals", c.sessions->arrivals, problems);
    check_part("workload/sessions/turns", c.sessions->turns, problems);
    check_part("workload/sessions/think_time", c.sessions->think_time, problems);
    check_part("workload/sessions/first_input_tokens", c.sessions->first_input_tokens, problems);
    check_part("workload/sessions/followup_input_tokens", c.sessions->followup_input_tokens, problems);
  }
  const int forms = c.arrivals.has_value() + c.trace.has_value() + c.closed_loop.has_value() + c.sessions.has_value();
  if (forms != 1)
    problems.add("workload", "give exactly one of arrivals, trace, closed_loop and sessions, not {}", forms);
  problems.raise_if_any();
}

bool given_one_by_one(const std::optional<LengthConfig>& c) { return !c || c->distribution == Distribution::Fixed; }

}  // namespace

Overlong overlong_policy(const WorkloadConfig& c) {
  if (c.overlong) return *c.overlong;
  if (c.sessions) return Overlong::Reject;
  // A trace and joint lengths state neither distribution.
  return given_one_by_one(c.input_tokens) && given_one_by_one(c.output_tokens) ? Overlong::Error : Overlong::Truncate;
}

std::unique_ptr<Source> make_source(const WorkloadConfig& c, std::uint64_t seed, const SourceLimits& limits,
                                    SourceReport& report) {
  check_all(c);
  const LengthGate gate(overlong_policy(c), limits.max_model_len, report);
  if (c.arrivals) return make_open_loop(c, seed, gate, report, limits.stop);
  if (c.trace) return make_trace_source(c, seed, gate, report, limits.stop);
  if (c.closed_loop) return make_closed_loop(c, seed, gate, report, limits.stop);
  return make_sessions(c, seed, gate, report, limits.stop);
}

}  // namespace servecast::workload
