#include "model/state_mixer.hpp"

#include "config/fields.hpp"
#include "core/error.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

namespace servecast::model {
namespace {

using Count = std::int64_t;

constexpr Count vector_element_bytes = 2;  // convolutions, biases, norms and their states

struct Matrix {
  Count rows;
  Count columns;
};

// Projections of one block on one rank. Low-rank gates' down projections are whole on every rank.
std::vector<Matrix> matrices(const StateMixer& s, Count hidden, std::int32_t tensor) {
  const StateWidths w = state_widths(s, tensor);
  std::vector<Matrix> m;
  switch (s.kind) {
    case StateKind::Mamba2: m = {{w.value + w.conv + w.heads, hidden}}; break;  // z, x with B and C, dt
    case StateKind::GatedDelta: m = {{w.conv + w.value, hidden}, {2 * w.heads, hidden}}; break;  // q k v z; a b
    case StateKind::KimiDelta: {
      m = {{w.conv, hidden}, {w.heads, hidden}, {s.head_dim, hidden}, {w.key, s.head_dim}};  // q k v; b; f down, up
      if (s.gate_rank > 0) {
        m.push_back({s.gate_rank, hidden});
        m.push_back({w.value, s.gate_rank});
      } else {
        m.push_back({w.value, hidden});
      }
      break;
    }
  }
  m.push_back({hidden, w.value});
  return m;
}

// Elements that are no matrix: the convolution, decay and step parameters per head or channel, the gated norm.
Count vectors(const StateMixer& s, Count hidden, std::int32_t tensor) {
  const StateWidths w = state_widths(s, tensor);
  Count n = w.conv * (s.conv_kernel + (s.conv_bias ? 1 : 0));
  switch (s.kind) {
    case StateKind::Mamba2: n += 3 * w.heads + w.value; break;
    case StateKind::GatedDelta: n += 2 * w.heads + s.head_dim; break;
    case StateKind::KimiDelta: n += w.heads + w.key + s.head_dim; break;
  }
  if (s.projection_bias) n += w.value + w.conv + w.heads + hidden;
  return n;
}

}  // namespace

StateWidths state_widths(const StateMixer& s, std::int32_t tensor) {
  SERVECAST_ENSURE(tensor >= 1 && s.heads % tensor == 0, "{} state heads over {} ranks", s.heads, tensor);
  StateWidths w;
  w.heads = s.heads / tensor;
  w.value = w.heads * s.head_dim;
  w.key = std::max<Count>(1, s.groups / tensor) * s.state_dim;
  w.conv = w.value + 2 * w.key;
  w.state = w.value * s.state_dim;
  return w;
}

Count state_parameters(const StateMixer& s, Count hidden) {
  Count n = vectors(s, hidden, 1);
  for (const Matrix& m : matrices(s, hidden, 1)) n += m.rows * m.columns;
  return n;
}

Count state_weight_bytes(const StateMixer& s, Count hidden, precision::Format format, std::int32_t tensor) {
  Count bytes = vectors(s, hidden, tensor) * vector_element_bytes;
  for (const Matrix& m : matrices(s, hidden, tensor)) bytes += precision::matrix_bytes(format, m.rows, m.columns);
  return bytes;
}

Count state_bytes(const StateMixer& s, std::int32_t tensor) {
  const StateWidths w = state_widths(s, tensor);
  const Count element = s.format == precision::Format::Float32 ? 4 : 2;
  return w.state * element + (s.conv_kernel - 1) * w.conv * vector_element_bytes;
}

std::optional<std::string> state_problem(const StateMixer& s) {
  const bool known = s.format == precision::Format::Float32 || s.format == precision::Format::BFloat16 ||
                     s.format == precision::Format::Float16;
  if (!known) return fmt::format("{} is no format of a recurrent state; use fp32, bf16 or fp16", name(s.format));
  if (s.groups > 0 && s.heads % s.groups != 0)
    return fmt::format("{} groups do not divide {} heads", s.groups, s.heads);
  if (s.gate_rank > 0 && s.kind != StateKind::KimiDelta) return "gate_rank belongs to kimi_delta; drop the key";
  return std::nullopt;
}

void describe(config::Fields& f, StateMixer& s) {
  using config::closed;
  constexpr double most_heads = 4096;
  constexpr double widest = 1 << 14;
  f.required("kind", s.kind, "mamba2, gated_delta (Qwen3-Next) or kimi_delta");
  f.required("heads", s.heads, closed(1, most_heads), "value heads");
  f.required("head_dim", s.head_dim, closed(1, widest), "width of a value head");
  f.required("groups", s.groups, closed(1, most_heads), "key heads; Mamba: groups of B and C");
  f.required("state_dim", s.state_dim, closed(1, widest), "width of a key head; Mamba: state size");
  f.field("conv_kernel", s.conv_kernel, closed(1, 64), "taps of the short convolution");
  f.field("conv_bias", s.conv_bias, "biases on the convolution");
  f.field("projection_bias", s.projection_bias, "biases on the projections");
  f.field("gate_rank", s.gate_rank, closed(0, widest), "kimi_delta: rank of the output gate, 0 = full");
  f.field("chunk", s.chunk, closed(1, 1 << 16), "tokens that prefill kernels take at a time");
  f.field("format", s.format, "number format of the recurrent state");
  if (!f.reading()) return;
  if (const auto problem = state_problem(s)) f.problem("", *problem);
}

}  // namespace servecast::model
