// Builders of request logs for the tests: single requests in seconds, and whole M/D/1 queues.
#pragma once

#include "core/random.hpp"
#include "metrics/request_log.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>

namespace servecast::metrics::synthetic {

inline core::Time at(double s) { return core::Time{} + core::seconds(s); }

inline workload::RequestId arrive(RequestLog& log, double s, std::int32_t prompt = 100) {
  workload::Request request;
  request.id = {static_cast<std::uint32_t>(log.records().size())};
  request.arrival = at(s);
  request.prompt_tokens = prompt;
  log.arrived(request, 0);
  return request.id;
}

struct Times {
  double arrival, first_token, finish;
};

inline void complete(RequestLog& log, Times t, std::int32_t output, std::int32_t prompt = 100) {
  const workload::RequestId id = arrive(log, t.arrival, prompt);
  log.first_token(id, at(t.first_token));
  log.finished(id, at(t.finish), output);
}

// One server with unit service time, Poisson arrivals at rate rho, first come first served, one output token. The run
// ends when the queue is empty, or at stop_s.
struct SingleServer {
  double rho = 0.5;
  std::int64_t requests = 1000;
  std::uint64_t seed = 1;
  std::optional<double> stop_s;
};

struct SingleServerRun {
  RequestLog log;
  core::Time end;
  double busy_share = 0;
};

inline SingleServerRun simulate(const SingleServer& q) {
  SingleServerRun run;
  core::Random random(q.seed, "test/arrivals");
  double now = 0, free_at = 0;
  const double stop = q.stop_s.value_or(1e6);
  for (std::int64_t i = 0; i < q.requests; ++i) {
    now += random.exponential(1.0 / q.rho);
    if (now > stop) break;
    const workload::RequestId id = arrive(run.log, now);
    free_at = std::max(free_at, now) + 1.0;
    if (free_at > stop) continue;
    run.log.first_token(id, at(free_at));
    run.log.finished(id, at(free_at), 1);
  }
  run.end = at(std::min(free_at, stop));
  run.busy_share = static_cast<double>(run.log.counts().completed) / core::to_seconds(run.end);
  return run;
}

}  // namespace servecast::metrics::synthetic
