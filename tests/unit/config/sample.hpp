// A document with one key of every kind, for the tests of the walkers.
#pragma once

#include "config/fields.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sample {

enum class Policy : std::uint8_t { Fcfs, ChunkedPrefill, Priority };
inline constexpr std::array<std::string_view, 3> policy_names = {"fcfs", "chunked-prefill", "priority"};
constexpr std::span<const std::string_view> names_of(Policy) { return policy_names; }

struct Scheduler {
  Policy policy = Policy::ChunkedPrefill;
  std::int64_t token_budget = 8192;
};

struct Arrivals {
  std::optional<double> rate_per_s;
  std::optional<std::int32_t> concurrency;
};

struct Pool {
  std::string name;
  std::int32_t replicas = 1;
  servecast::config::Reference stack;
  std::optional<Scheduler> scheduler;
};

struct Scenario {
  std::string name;
  std::uint64_t seed = 1;
  double kv_fraction = 0.9;
  bool record = true;
  servecast::config::Reference model;
  Scheduler scheduler;
  Arrivals arrivals;
  std::vector<Pool> pools;
  std::vector<double> weights = {0.5, 0.25};
  std::optional<std::vector<std::int64_t>> sizes;
};

inline void describe(servecast::config::Fields& f, Scheduler& s) {
  f.field("policy", s.policy, "who runs next");
  f.field("token_budget", s.token_budget, servecast::config::closed(1, 1048576), "tokens of one step");
}

inline void describe(servecast::config::Fields& f, Arrivals& a) {
  f.field("rate_per_s", a.rate_per_s, servecast::config::above(0, 1e6), "open arrivals");
  f.field("concurrency", a.concurrency, servecast::config::closed(1, 1e6), "closed loop");
  constexpr std::array<std::string_view, 2> forms = {"rate_per_s", "concurrency"};
  f.exactly_one_of(forms, true);
}

inline void describe(servecast::config::Fields& f, Pool& p) {
  f.required("name", p.name, "name of the pool");
  f.field("replicas", p.replicas, servecast::config::closed(1, 1000), "replicas | copies");
  f.field("stack", p.stack, "serving software");
  f.field("scheduler", p.scheduler, "overrides the common one");
}

inline void describe(servecast::config::Fields& f, Scenario& s) {
  f.required("name", s.name, "name of the run");
  f.field("seed", s.seed, "of every random stream");
  f.field("kv_fraction", s.kv_fraction, servecast::config::closed(0.05, 1), "share of memory");
  f.field("record", s.record, "keep rows");
  f.field("model", s.model, "what is served");
  f.field("scheduler", s.scheduler, "batching");
  f.field("arrivals", s.arrivals, "traffic");
  f.field("pools", s.pools, "groups of replicas");
  f.field("weights", s.weights, servecast::config::closed(0, 1), "shares");
  f.field("sizes", s.sizes, servecast::config::closed(0, 100), "sizes");
  if (s.record && s.seed == 13) f.problem("seed", "13 is unlucky with records; take another");
}

inline constexpr std::string_view valid_json = R"({
  // Comments are allowed.
  "name": "demo", "seed": 42, "kv_fraction": 0.875, "record": false,
  "model": {"layers": 3, "kind": "dense"},
  "scheduler": {"policy": "fcfs", "token_budget": 512},
  "arrivals": {"rate_per_s": 2.5},
  "pools": [ {"name": "a", "replicas": 2, "stack": "vllm", "scheduler": {"policy": "priority"}}, {"name": "b"} ],
  "weights": [0.1, 1], /* and these */ "sizes": [1, 2.0, 3e1]
})";

}  // namespace sample
