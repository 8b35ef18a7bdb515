// A measured row on its way through validation: what it measured, the scenario that predicts it or why none can, and
// after the run what was predicted. Every row of a file becomes exactly one; none is left out.
#pragma once

#include "fidelity/names.hpp"
#include "scenario/fit.hpp"
#include "scenario/scenario.hpp"
#include "scenario/stack.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace servecast::fidelity {

// How a client behaved where only some rows mean it. Off unless a column of the row says so, or the caller asks for
// what client_settings() knows.
struct RowOptions {
  std::int32_t stream_interval = 1;  // tokens per message to the client: it sees the first token when they are full
  std::int32_t extra_clients = 0;    // requests kept queued beyond the stated concurrency, outside the engine's slots
};

struct Measure {
  std::string metric;  // "ttft_ms", "tpot_ms", "output_throughput" ...
  double measured = 0;
  std::optional<double> predicted;
  std::string doubt;  // why the measured value is distrusted; empty: it is scored
  double error() const { return *predicted / measured - 1; }  // Requires: predicted
};

// What a row's run was bound by; shares of replica time.
struct Breakdown {
  double compute = 0, memory = 0, network = 0, host = 0, idle = 0;
  std::string limiting;
};

enum class Fate : std::uint8_t { Predicted, Refused, Duplicate, Context };
inline constexpr std::string_view fate_names[] = {"predicted", "refused", "duplicate", "context"};
constexpr std::span<const std::string_view> names_of(Fate) { return fate_names; }

struct Case {
  std::string id;
  std::size_t line = 0;
  std::string model, gpu, engine;  // the group: document names, and the engine as the row writes it
  scenario::Match match = scenario::Match::Unversioned;
  std::string stack;
  Fate fate = Fate::Predicted;
  std::string reason;  // of a refusal, without values that differ from row to row; or what the context is
  std::string detail;  // the whole message
  std::string shape;   // for people: "tp 4, 1024/1024, concurrency 32"
  std::optional<scenario::Scenario> scenario;
  std::optional<scenario::FitInput> fit;  // instead, for rows of capacity
  RowOptions options;
  std::int32_t copies = 1;  // independent replicas the row's figures are the sum of
  std::int64_t gpus = 1;    // over all copies
  std::vector<Measure> measures;
  Breakdown breakdown;

  void refuse(std::string why, std::string whole = "");
};

}  // namespace servecast::fidelity
