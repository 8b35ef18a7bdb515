// What one engine step takes: the interface between the scheduler and the cost model. It knows no clock and no queue.
// A step has three kinds of work: decoding sequences with one query token each, prefill chunks, and sampled rows.
// Implementations are compiled per configuration into tables, so that a call costs nanoseconds; everything is integer
// picoseconds, so that a fast engine and a plain one agree to the bit.
#pragma once

#include "core/time.hpp"

#include <cstdint>

namespace servecast::cost {

// Shape of one step on one data-parallel rank. Contexts count KV tokens read, the step's own token included.
struct StepShape {
  std::int32_t decode_requests = 0;
  std::int64_t decode_context = 0;           // sum over decoding sequences
  std::int64_t decode_context_windowed = 0;  // same, each cut to the model's window; only where needs_window()
  std::int32_t prefill_tokens = 0;           // sum of the chunks
  std::int32_t prefill_requests = 0;         // number of chunks
  core::Duration prefill_attention;          // sum of StepCost::chunk over the chunks
  std::int32_t sampled_rows = 0;             // rows through LM head and sampler: decoders + prompts completed here
};

// Share of each link class the step may use, 1 when nothing else is on it. Filled by the cluster at a step's start.
struct LinkOffer {
  double scale_up = 1.0;
  double nic = 1.0;
  double host = 1.0;
  bool nominal() const { return scale_up == 1.0 && nic == 1.0 && host == 1.0; }
};

// Duration of a step and how it is made up: the four parts sum to total.
struct StepTime {
  core::Duration total;
  core::Duration compute;           // bound by arithmetic
  core::Duration memory;            // bound by HBM
  core::Duration network;           // collectives
  core::Duration host;              // CPU work the GPU waits for, and launch floors
  std::int64_t scale_up_bytes = 0;  // sent per GPU over the scale-up link
  std::int64_t energy_uj = 0;       // of one rank's device, beyond what it draws while it waits with its model loaded
  bool operator==(const StepTime&) const = default;
};

class StepCost {
 public:
  virtual ~StepCost() = default;

  // Attention time over all layers of the prefill chunk [from, to) of one prompt. Requires: 0 <= from < to.
  virtual core::Duration chunk(std::int32_t from, std::int32_t to) const = 0;
  // The step at nominal links; the hot path.
  virtual StepTime step(const StepShape& shape) const = 0;
  // The general path: computes with the links as offered.
  virtual StepTime step(const StepShape& shape, const LinkOffer& offer) const = 0;
  // Size of the attention window if decode_context_windowed must be filled, else 0.
  virtual std::int32_t needs_window() const { return 0; }
};

}  // namespace servecast::cost
