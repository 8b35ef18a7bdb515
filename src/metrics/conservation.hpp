// The laws every run must obey, checked at its end: requests and tokens are neither lost nor made, and Little's law
// holds between two independent computations (N(t) integrated over bins; sojourn times summed over requests).
// A violation is our own bug and throws core::LogicError.
#pragma once

#include "metrics/number_in_system.hpp"
#include "metrics/request_log.hpp"

namespace servecast::metrics {

// Tokens the engines say they computed, summed over replicas; compared with what requests received.
struct EngineTokens {
  std::int64_t prefill = 0;  // recomputation included
  std::int64_t decode = 0;
  std::int64_t sequences = 1;  // of a request, each of its output length
  std::int64_t prompts = 1;    // that a request asks for: its own, once for each request that the engine makes of it
};

void check_requests(const RequestLog& log);
void check_littles_law(const RequestLog& log, const NumberInSystem& n);
void check_tokens(const RequestLog& log, const EngineTokens& engine);

}  // namespace servecast::metrics
