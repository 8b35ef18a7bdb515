#include "cost/roofline.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace servecast::cost {
namespace {

constexpr double tera = 1e12;
constexpr double us = 1e-6;

OperatorInput operator_input(const StepModelInput& in) {
  return {in.architecture, in.gpu, in.precision, in.parallel.tensor, in.efficiency, in.host};
}

fabric::ScaleUp links_of(const StepModelInput& in) {
  fabric::ScaleUp f = in.fabric;
  if (in.gpu.scale_up_gb_s > 0) f.per_direction_gb_s = in.gpu.scale_up_gb_s;
  return f;
}

Device device_of(const StepModelInput& in) {
  return {in.gpu.memory_tb_s * tera, in.efficiency, in.host.small_kernel_us * us,
          fabric::group_of(links_of(in), in.parallel.tensor)};
}

void add(Parts& p, const OperatorTime& t, double factor) {
  (t.compute_s >= t.memory_s ? p.compute_s : p.memory_s) += factor * t.roofline_s();
  p.host_s += factor * t.floor_s;
  p.latency_s += factor * t.latency_s;
  p.bandwidth_s += factor * t.bandwidth_s;
  p.bytes_sent += t.bytes_sent;
}

core::Duration nearest(double seconds) { return core::seconds(seconds); }

}  // namespace

void check_step_model(const StepModelInput& in, core::Problems& problems, const std::string& place,
                      std::vector<std::string>& warnings) {
  check_supported(in.parallel, problems, place + "/parallel");
  check_parallel(in.architecture, in.parallel.tensor, problems, place + "/parallel/tensor");
  check_precision(in.precision, in.architecture, in.gpu, problems, place + "/precision", warnings);
  if (in.parallel.tensor > in.fabric.max_ranks) {
    problems.add(place + "/parallel/tensor", "tensor {} exceeds the {} GPUs of one {} domain; use at most {}",
                 in.parallel.tensor, in.fabric.max_ranks, in.fabric.name, in.fabric.max_ranks);
  }
  if (in.architecture.attention.window_is_chunk && in.architecture.attention.windowed_layers > 0) {
    warnings.push_back(in.architecture.name +
                       ": decode attention in chunked layers is charged like a sliding window of the "
                       "same size, about twice the tokens they read on average");
  }
}

StepModel::StepModel(const StepModelInput& in)
    : in_(in),
      device_(device_of(in)),
      token_operators_(token_operators(operator_input(in))),
      row_operators_(row_operators(operator_input(in))),
      attention_(attention_model(operator_input(in))),
      host_(compile(in.host, in.async_scheduling)) {
  if (in.cuda_graphs) graph_sizes_ = capture_sizes(in.max_num_seqs, in.max_num_batched_tokens);
}

double StepModel::attention_launch_s(bool mixed) const {
  const Efficiency& e = in_.efficiency;
  const double absorb = attention_.absorb.count * attention_.absorb.math.efficiency.floor_us;
  const double floors = (attention_.kernels * e.attention_floor_us + absorb) * us;
  return floors + (mixed ? attention_.kernels * e.piecewise_launch_us * us : 0.0);
}

std::vector<TimedOperator> StepModel::token_times(std::int32_t n) const {
  const Padded p = padded(n);
  std::vector<TimedOperator> times;
  times.reserve(token_operators_.size());
  for (const Operator& op : token_operators_) times.push_back({&op, evaluate(op, p.tokens, device_, p.graph)});
  return times;
}

std::vector<TimedOperator> StepModel::row_times(std::int32_t n) const {
  std::vector<TimedOperator> times;
  times.reserve(row_operators_.size());
  for (const Operator& op : row_operators_) times.push_back({&op, evaluate(op, n, device_, in_.cuda_graphs)});
  return times;
}

Parts StepModel::tokens(std::int32_t n, bool mixed) const {
  Parts parts;
  if (n <= 0) return parts;
  const Padded p = padded(n);
  for (const Operator& op : token_operators_) add(parts, evaluate(op, p.tokens, device_, p.graph), factor(mixed));
  parts.host_s += factor(mixed) * attention_launch_s(mixed);
  return parts;
}

Parts StepModel::rows(std::int32_t n, bool mixed) const {
  Parts parts;
  for (const Operator& op : row_operators_) add(parts, evaluate(op, n, device_, in_.cuda_graphs), factor(mixed));
  return parts;
}

Rooflines StepModel::decode(int layer_class, double decoders, double context, bool mixed) const {
  Rooflines r = attention_.decode[static_cast<std::size_t>(layer_class)].at(decoders, context);
  if (layer_class == 0 && attention_.absorb.count > 0 && decoders > 0) {
    const OperatorTime t = evaluate(attention_.absorb, decoders, device_, true);
    r.compute_s += t.roofline_s();
    r.memory_s += t.roofline_s();
    r.flops += t.flops;
    r.bytes += t.bytes;
  }
  r.compute_s *= factor(mixed);
  r.memory_s *= factor(mixed);
  return r;
}

double StepModel::chunk_s(std::int32_t from, std::int32_t to) const {
  double seconds = 0;
  for (const ChunkClass& c : attention_.prefill) {
    if (c.forms.empty()) continue;
    const ChunkWork w = chunk_work(from, to, c.window, c.size);
    double best = std::numeric_limits<double>::infinity();
    for (const ChunkForm& f : c.forms) best = std::min(best, std::max(f.compute.at(w), f.memory.at(w)));
    seconds += best;
  }
  return seconds * factor(true);
}

StepTime StepModel::step(const StepShape& shape, const LinkOffer& offer) const {
  const bool mixed = shape.prefill_tokens > 0;
  Parts p = tokens(shape.decode_requests + shape.prefill_tokens, mixed);
  const Parts head = rows(shape.sampled_rows, mixed);
  p.compute_s += head.compute_s;
  p.memory_s += head.memory_s;
  if (shape.decode_requests > 0) {
    for (int c = 0; c < 2; ++c) {
      const std::int64_t context = c == 0 ? shape.decode_context : shape.decode_context_windowed;
      const Rooflines r = decode(c, shape.decode_requests, static_cast<double>(context), mixed);
      (r.compute_s >= r.memory_s ? p.compute_s : p.memory_s) += r.seconds();
    }
  }
  StepTime t;
  t.compute = nearest(p.compute_s) + shape.prefill_attention;
  t.memory = nearest(p.memory_s);
  t.network = nearest(p.latency_s + head.latency_s + (p.bandwidth_s + head.bandwidth_s) / offer.scale_up);
  t.host = nearest(p.host_s + head.host_s);
  const core::Duration gpu = t.compute + t.memory + t.network + t.host;
  t.host.ps += host_.extra(gpu.ps, shape.decode_requests, shape.prefill_requests, shape.prefill_tokens);
  t.total = t.compute + t.memory + t.network + t.host;
  t.scale_up_bytes = std::llround(p.bytes_sent) + std::llround(head.bytes_sent);
  return t;
}

}  // namespace servecast::cost
