// From a scenario document to everything a run needs: the model, the hardware and the stacks it names, every default
// resolved and every rule across sections checked. All problems are reported together. Nothing is simulated here.
#pragma once

#include "core/error.hpp"
#include "fabric/profile.hpp"
#include "hardware/gpu.hpp"
#include "metrics/result.hpp"
#include "model/architecture.hpp"
#include "precision/format.hpp"
#include "scenario/fit.hpp"
#include "scenario/length_rules.hpp"
#include "scenario/precision_policy.hpp"
#include "scenario/scenario.hpp"
#include "scenario/stack.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace servecast::scenario {

// What the command line says about a scenario. name: a path, or the name of a built-in scenario.
struct Request {
  std::string name;
  std::vector<std::string> sets;
  std::optional<std::uint32_t> seed;
};

// One pool with every default resolved.
struct PoolSetup {
  Stack stack;
  std::optional<model::Architecture> draft;
  model::TensorFormats formats;  // of the weights
  precision::Format activations = precision::Format::BFloat16;
  precision::Format kv_cache = precision::Format::BFloat16;
  std::optional<PrecisionChoice> precision;  // of the dynamic policy
  hardware::Gpu device;                      // that a rank runs on: the GPU, or one die of it
  engine::Settings user;                     // as the scenario gives them, for remedies
  std::vector<std::string> weight_keys;  // of precision: weights, and classes that the scenario states over it; empty:
                                         // a policy chooses
  std::string place;                     // "file:/pools/0", for messages
};

// scenario holds the values in force: settings and formats filled in, file references inline, paths absolute.
struct Resolved {
  Scenario scenario;
  model::Architecture model;
  hardware::Node node;
  hardware::Gpu gpu;
  fabric::ScaleUp fabric;
  std::vector<PoolSetup> pools;               // as scenario.pools
  std::vector<std::string> threshold_places;  // "file:/thresholds/0/metric", for messages
  std::string sequences_place;                // "file:/workload/samples", or beam, likewise
  std::vector<metrics::InputHash> inputs;     // documents read from files; see scenario/inputs.hpp

  std::int64_t gpus_used() const;
};

// Replicas of `tensor` GPUs that machines hold: each stays inside a scale-up domain.
std::int64_t replicas_that_fit(const hardware::Node& node, std::int32_t nodes, std::int32_t tensor);

// Throws core::InputError with every problem, core::Error if a file cannot be read.
Resolved resolve(const Request& request);
// The same for a scenario made in memory, whose values are in range; place names it in messages.
Resolved resolve(Scenario scenario, const std::string& place);

// The scenario with every default, override and extended document written out; resolving it gives the same run.
std::string resolved_json(const Resolved& r);

FitInput fit_input(const Resolved& r, std::size_t pool);

// "servecast fit" and "run" both start here: pools whose memory holds their model, or the first that does not.
struct Fits {
  std::vector<FitReport> pools;
  std::string problem;  // empty: every pool fits. Else what is missing and the smallest change that fits
};
Fits fit_all(const Resolved& r);

}  // namespace servecast::scenario
