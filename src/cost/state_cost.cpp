#include "cost/state_cost.hpp"

namespace servecast::cost {

using model::StateKind;

std::vector<StateProjection> state_projections(const model::StateMixer& s, double hidden, std::int32_t tensor) {
  const model::StateWidths w = model::state_widths(s, tensor);
  const auto heads = static_cast<double>(w.heads);
  const auto value = static_cast<double>(w.value);
  const auto conv = static_cast<double>(w.conv);
  std::vector<StateProjection> p;
  switch (s.kind) {
    case StateKind::Mamba2: p = {{"state input projection", value + conv + heads, hidden}}; break;
    case StateKind::GatedDelta:
      p = {{"state input projection", conv + value, hidden}, {"state gates projection", 2 * heads, hidden}};
      break;
    case StateKind::KimiDelta: {
      const double rank = s.gate_rank;
      const double down = heads + s.head_dim + (rank > 0 ? rank : value);
      p = {{"state input projection", conv, hidden},
           {"state gates projection", down, hidden},
           {"decay up projection", static_cast<double>(w.key), static_cast<double>(s.head_dim)}};
      if (rank > 0) p.push_back({"gate up projection", value, rank});
      break;
    }
  }
  p.push_back({"state output projection", hidden, value});
  return p;
}

// Per token of a chunk of c tokens. Mamba-2: scores C B^T per group; per head scores x inputs, the chunk's state and
// its reading. Delta rules solve for the inputs first: k k^T and q k^T per head, a triangular solve of the chunk
// applied to keys and values, and one reading of the state more. Products over a causal half count in full, as kernels
// compute them.
StateWork state_work(const model::StateMixer& s, std::int32_t tensor) {
  const model::StateWidths w = model::state_widths(s, tensor);
  const auto heads = static_cast<double>(w.heads);
  const auto value = static_cast<double>(w.value);
  const auto key = static_cast<double>(w.key);
  const double chunk = s.chunk;
  const double state = static_cast<double>(w.state);
  StateWork out;
  out.convolution_elements = 2.0 * static_cast<double>(w.conv);
  out.update_elements = static_cast<double>(w.conv) + heads + value;
  out.norm_elements = 3.0 * value;  // result and gate in, product out
  out.state_bytes = static_cast<double>(model::state_bytes(s, tensor));
  if (s.kind == StateKind::Mamba2) {
    out.prefill_flops = 2.0 * chunk * (key + value) + 4.0 * state;
    return out;
  }
  const double wide_key = heads * s.state_dim;
  out.prefill_flops = 2.0 * chunk * (2.0 * wide_key + wide_key + 2.0 * value) + 6.0 * state;
  return out;
}

}  // namespace servecast::cost
