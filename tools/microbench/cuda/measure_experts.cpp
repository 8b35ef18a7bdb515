// Routed experts, checked stage by stage: each stage against the stage before it as the device left it.
#include "microbench/cuda/kernels.hpp"
#include "microbench/cuda/measures.hpp"
#include "microbench/host/codecs.hpp"
#include "microbench/host/routing.hpp"
#include "microbench/host/values.hpp"

#include <algorithm>
#include <cmath>

namespace servecast::microbench::cuda {

namespace {

constexpr std::uint64_t token_stream = 61, gate_up_stream = 62, down_stream = 63;

double bf16_value(std::uint64_t stream, std::int64_t i) {
  return codec::bf16_to_float(values::bf16_code(stream, static_cast<std::uint64_t>(i)));
}

struct Layer {
  Layer(const Experts& e, const Routing& r, Context& c);
  MoeArguments arguments(const Experts& e) const;
  std::int64_t rows, experts;
  Buffer<std::uint16_t> tokens, gate_up, down, permuted, wide, active, narrow, out;
  Buffer<std::int32_t> expert, counts, row_begin, tile_begin, filled, row_of;
};

Layer::Layer(const Experts& e, const Routing& r, Context& c)
    : rows(r.rows),
      experts(r.local_experts),
      tokens(e.tokens * e.hidden),
      gate_up(experts * 2 * e.inter * e.hidden),
      down(experts * e.hidden * e.inter),
      permuted(rows * e.hidden),
      wide(rows * 2 * e.inter),
      active(rows * e.inter),
      narrow(rows * e.hidden),
      out(e.tokens * e.hidden),
      expert(e.tokens * e.top_k),
      counts(experts),
      row_begin(experts + 1),
      tile_begin(experts + 1),
      filled(experts),
      row_of(e.tokens * e.top_k) {
  expert.put(r.expert);
  fill_bf16(tokens.data(), tokens.count(), token_stream, c.stream);
  fill_bf16(gate_up.data(), gate_up.count(), gate_up_stream, c.stream);
  fill_bf16(down.data(), down.count(), down_stream, c.stream);
  check_launch("filling the experts");
}

MoeArguments Layer::arguments(const Experts& e) const {
  MoeArguments m{};
  m.tokens = tokens.data(), m.expert = expert.data(), m.gate_up = gate_up.data(), m.down = down.data();
  m.counts = counts.data(), m.row_begin = row_begin.data(), m.tile_begin = tile_begin.data(), m.filled = filled.data();
  m.row_of = row_of.data(), m.permuted = permuted.data(), m.wide = wide.data(), m.active = active.data();
  m.narrow = narrow.data(), m.out = out.data();
  m.token_count = static_cast<std::int32_t>(e.tokens), m.hidden = static_cast<std::int32_t>(e.hidden);
  m.inter = static_cast<std::int32_t>(e.inter), m.top_k = static_cast<std::int32_t>(e.top_k);
  m.experts = static_cast<std::int32_t>(experts), m.rows = static_cast<std::int32_t>(rows);
  return m;
}

// |got - exact| within BF16's rounding of the output, and FP32's of the sum of `magnitude`; both doubled.
bool close(std::uint16_t got, double exact, double magnitude) {
  return std::abs(codec::bf16_to_float(got) - exact) <= std::abs(exact) / 256 + magnitude * 1e-5 + 1e-30;
}

// Dot product of a row as it lies on the device with a row of weights.
template <class Weight>
bool product_close(const std::vector<std::uint16_t>& row, Weight weight, std::uint16_t got) {
  double exact = 0, magnitude = 0;
  for (std::size_t i = 0; i < row.size(); ++i) {
    const double term = codec::bf16_to_float(row[i]) * weight(static_cast<std::int64_t>(i));
    exact += term, magnitude += std::abs(term);
  }
  return close(got, exact, magnitude);
}

// One copy through gather, first product, activation and second product, at one place of each output.
std::string copy_difference(const Experts& e, const Layer& l, std::int64_t copy, std::int64_t expert,
                            std::uint64_t sample) {
  const std::int64_t row = l.row_of.get(copy);
  if (row < 0 || row >= l.rows) return fmt::format("copy {} has row {}", copy, row);
  const std::vector<std::uint16_t> in = l.permuted.get(row * e.hidden, e.hidden);
  for (std::int64_t i = 0; i < e.hidden; ++i)
    if (in[static_cast<std::size_t>(i)] !=
        values::bf16_code(token_stream, static_cast<std::uint64_t>(copy / e.top_k * e.hidden + i)))
      return fmt::format("row {} is not token {}", row, copy / e.top_k);
  const auto pick = [&](std::int64_t n) {
    return static_cast<std::int64_t>(values::mixed(71, sample) % static_cast<std::uint64_t>(n));
  };
  const std::int64_t n = pick(2 * e.inter), i = pick(e.inter), h = pick(e.hidden);
  const auto gate_up = [&](std::int64_t k) {
    return bf16_value(gate_up_stream, (expert * 2 * e.inter + n) * e.hidden + k);
  };
  if (!product_close(in, gate_up, l.wide.get(row * 2 * e.inter + n)))
    return fmt::format("first product, row {} column {}", row, n);
  const double gate = codec::bf16_to_float(l.wide.get(row * 2 * e.inter + i));
  const double up = codec::bf16_to_float(l.wide.get(row * 2 * e.inter + e.inter + i));
  const double active = gate / (1 + std::exp(-gate)) * up;
  if (!close(l.active.get(row * e.inter + i), active, std::abs(active)))
    return fmt::format("activation, row {} column {}", row, i);
  const auto down = [&](std::int64_t k) { return bf16_value(down_stream, (expert * e.hidden + h) * e.inter + k); };
  if (!product_close(l.active.get(row * e.inter, e.inter), down, l.narrow.get(row * e.hidden + h)))
    return fmt::format("second product, row {} column {}", row, h);
  return "";
}

std::string token_difference(const Experts& e, const Layer& l, std::int64_t token, std::int64_t h) {
  double sum = 0, magnitude = 0;
  for (const std::int32_t row : l.row_of.get(token * e.top_k, e.top_k)) {
    if (row < 0) continue;
    const double x = codec::bf16_to_float(l.narrow.get(row * e.hidden + h));
    sum += x, magnitude += std::abs(x);
  }
  const auto k = static_cast<double>(e.top_k);
  return close(l.out.get(token * e.hidden + h), sum / k, magnitude / k) ? ""
                                                                        : fmt::format("token {} column {}", token, h);
}

// Every copy of this rank has a row of its own, and nobody else has one.
std::string rows_difference(const Routing& r, const Layer& l) {
  std::vector<char> taken(static_cast<std::size_t>(l.rows));
  const std::vector<std::int32_t> rows = l.row_of.get(0, l.row_of.count());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if ((rows[i] >= 0) != (r.expert[i] >= 0) || rows[i] >= l.rows) return fmt::format("copy {} has row {}", i, rows[i]);
    if (rows[i] >= 0 && taken[static_cast<std::size_t>(rows[i])]++ != 0)
      return fmt::format("row {} is taken twice", rows[i]);
  }
  return "";
}

std::string difference(const Experts& e, const Routing& r, const Layer& l) {
  if (std::string wrong = rows_difference(r, l); !wrong.empty()) return wrong;
  std::vector<std::int64_t> copies;
  for (std::size_t i = 0; i < r.expert.size(); ++i)
    if (r.expert[i] >= 0) copies.push_back(static_cast<std::int64_t>(i));
  for (std::uint64_t sample = 0; sample < 12; ++sample) {
    const std::int64_t copy = sample == 0 ? copies.back() : copies[values::mixed(72, sample) % copies.size()];
    std::string wrong = copy_difference(e, l, copy, r.expert[static_cast<std::size_t>(copy)], sample);
    if (wrong.empty())
      wrong = token_difference(e, l, copy / e.top_k, static_cast<std::int64_t>(sample) * 37 % e.hidden);
    if (!wrong.empty()) return wrong;
  }
  return "";
}

}  // namespace

Outcome measure_experts(Context& c, const Experts& e, const Timing& t) {
  const Routing routing = route(e);
  const Layer layer(e, routing, c);
  const MoeArguments m = layer.arguments(e);
  experts(m, c.stream);
  check_launch("expert kernels");
  Outcome out;
  out.kernel_source = "servecast_grouped";
  out.wrong = difference(e, routing, layer);
  if (out.wrong.empty())
    time_launch(
        c, [&](cudaStream_t s) { experts(m, s); }, t, out);
  return out;
}

}  // namespace servecast::microbench::cuda
