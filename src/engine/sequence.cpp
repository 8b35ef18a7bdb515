#include "engine/sequence.hpp"

#include <algorithm>

namespace servecast::engine {

void charge(const SequenceState& s, const cost::StepCost& cost, std::int32_t window, cost::StepShape& shape) {
  if (s.phase == Phase::Decode) return charge_decode(s, window, shape);
  const std::int32_t end = s.from + s.scheduled;
  shape.prefill_tokens += s.scheduled;
  ++shape.prefill_requests;
  shape.prefill_attention += cost.chunk(s.from, end);
  if (end == s.tokens()) ++shape.sampled_rows;
}

void emit(SequenceState& s, Observer& observer, core::Time at) {
  ++s.generated;
  if (s.generated == 1)
    observer.first_token(s.request.id, at);
  else
    observer.token_gap(at - s.last_token, 1);
  s.last_token = at;
  if (s.generated == s.output()) observer.finished(s.request.id, at, s.generated);
}

}  // namespace servecast::engine
