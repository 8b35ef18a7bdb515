// A step broken down by operator: what explain prints.
#pragma once

#include "cost/roofline.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace servecast::cost {

enum class Resource : std::uint8_t { Compute, Memory, Network, Launch, Host, DieLink };
std::string_view name(Resource r);

struct ExplainRow {
  std::string name;
  double launches = 0;  // per step
  double seconds = 0;
  double share = 0;                   // of the step
  Resource limit = Resource::Memory;  // the largest part of its time
  double flops = 0;
  double bytes = 0;  // HBM; collectives: sent over the scale-up link
  // Of the time: "measured" by a kernel table, "derived" from one, "datasheet" peaks with stated efficiencies, or a
  // "constant" of the stack.
  std::string_view origin;
  bool extrapolated = false;
};

// Shares of the step by origin; extrapolated: of the same time, outside what a table measured.
struct TimeOrigins {
  double measured = 0;
  double derived = 0;
  double datasheet = 0;
  double constant = 0;
  double extrapolated = 0;
};

struct Explanation {
  std::vector<ExplainRow> rows;  // in the order of the step
  StepTime time;
};

// chunks: [from, to) of each prefill chunk. shape.prefill_tokens, prefill_requests and prefill_attention follow from
// them and need not be filled.
Explanation explain(const StepModel& model, StepShape shape,
                    const std::vector<std::pair<std::int32_t, std::int32_t>>& chunks);

TimeOrigins origins(const Explanation& e);

}  // namespace servecast::cost
