// The scenario document: one struct, described once, which drives reading, --set, extends, resolved.json, the schema
// and docs/CONFIG.md. It holds what the user wrote; scenario/build.hpp turns it into what a run needs. Units are in the
// keys. Parts that this version cannot simulate are in the schema so that they can be refused by name.
#pragma once

#include "config/fields.hpp"
#include "cost/device.hpp"
#include "cost/fixed.hpp"
#include "cost/parallel.hpp"
#include "cost/rate.hpp"
#include "engine/settings.hpp"
#include "precision/format.hpp"
#include "workload/config.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace servecast::scenario {

struct Cluster {
  config::Reference node;
  std::int32_t nodes = 1;
};

// Stated: formats by tensor class. Dynamic: the feed-forward part of every block (MLP and experts) gets the narrowest
// format that keeps quality_floor_db; the other classes keep theirs. See precision_policy.hpp.
enum class PrecisionPolicy : std::uint8_t { Stated, Dynamic };
inline constexpr std::string_view precision_policy_names[] = {"stated", "dynamic"};
constexpr std::span<const std::string_view> names_of(PrecisionPolicy) { return precision_policy_names; }

// Formats over the model's own. weights sets attention, mlp and experts; the per-class keys win over it.
struct Precision {
  std::optional<precision::Format> weights;
  std::optional<precision::Format> activations;
  std::optional<precision::Format> kv_cache;
  std::optional<precision::Format> attention;
  std::optional<precision::Format> mlp;
  std::optional<precision::Format> experts;
  std::optional<precision::Format> router;
  std::optional<precision::Format> lm_head;
  std::optional<precision::Format> embedding;
  PrecisionPolicy policy = PrecisionPolicy::Stated;
  std::optional<double> quality_floor_db;  // of the dynamic policy
  cost::Conversion conversion = cost::Conversion::Stack;
};

enum class Role : std::uint8_t { Unified, Prefill, Decode };
inline constexpr std::string_view role_names[] = {"unified", "prefill", "decode"};
constexpr std::span<const std::string_view> names_of(Role) { return role_names; }

struct Pool {
  std::string name = "serve";
  Role role = Role::Unified;
  std::int32_t replicas = 1;
  config::Reference stack;
  cost::Parallel parallel;
  Precision precision;
  cost::DeviceSettings device;
  engine::Settings engine;
  config::Reference draft_model;  // of speculative decoding; its memory alone
  config::Reference speculative;  // refused by name in this version
};

enum class RouterPolicy : std::uint8_t { RoundRobin, Random, LeastLoaded, PowerOfTwo };
inline constexpr std::string_view router_policy_names[] = {"round-robin", "random", "least-loaded", "power-of-two"};
constexpr std::span<const std::string_view> names_of(RouterPolicy) { return router_policy_names; }

struct Router {
  RouterPolicy policy = RouterPolicy::RoundRobin;
};

// Targets at one percentile of each latency; a request meets them when all its own values do.
struct Slo {
  std::optional<double> ttft_ms;
  std::optional<double> tpot_ms;
  std::optional<double> e2e_ms;
  double percentile = 99;
};

struct Price {
  std::optional<double> gpu_hour_usd;  // absent: the GPU profile's indicative price, if any
};

// One pass/fail expression over result.json. A run that fails one exits 4.
struct Threshold {
  std::string metric;  // JSON pointer into the result, e.g. "/latency/ttft_ms/p99"
  std::optional<double> max;
  std::optional<double> min;
};

struct Limits {
  std::optional<double> max_simulated_s;
  bool drain = true;  // false: stop at the last arrival and count what is unfinished
};

// fixed: constant step times instead of the cost model, for tests and for teaching, never for a forecast.
struct Cost {
  std::optional<cost::FixedConfig> fixed;
};

struct Scenario {
  std::int32_t version = 1;
  std::string name;
  std::string description;
  std::uint32_t seed = 1;
  config::Reference model;
  Cluster cluster;
  std::vector<Pool> pools;
  Router router;
  workload::WorkloadConfig workload;
  Slo slo;
  Price price;
  std::vector<Threshold> thresholds;
  Limits limits;
  Cost cost;
};

void describe(config::Fields& f, Scenario& s);

}  // namespace servecast::scenario
