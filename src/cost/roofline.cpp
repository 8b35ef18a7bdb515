#include "cost/roofline.hpp"

#include "core/units.hpp"
#include "model/blocks.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace servecast::cost {
namespace {

constexpr double tera = 1e12;
constexpr double us = 1e-6;

// Devices that one GPU makes, and ranks of the replica.
std::int32_t per_gpu(const StepModelInput& in) {
  return in.device.placement == Placement::DevicePerDie && !in.gpu.whole.empty() ? 2 : 1;
}
std::int32_t ranks(const StepModelInput& in) { return in.parallel.tensor * per_gpu(in); }

OperatorInput operator_input(const StepModelInput& in) {
  return {in.architecture, in.gpu, in.precision, ranks(in), in.efficiency, in.host, per_gpu(in)};
}

Power power_of(const StepModelInput& in) {
  const double limit_w = in.device.power_limit_w ? *in.device.power_limit_w / per_gpu(in) : in.gpu.tdp_w;
  return {hardware::power_facts(in.gpu), limit_w};
}

fabric::ScaleUp links_of(const StepModelInput& in) {
  fabric::ScaleUp f = in.fabric;
  if (in.gpu.scale_up_gb_s > 0) f.per_direction_gb_s = in.gpu.scale_up_gb_s;
  return f;
}

Device device_of(const StepModelInput& in, const Dies& dies) {
  return {in.gpu.memory_tb_s * tera,
          in.efficiency,
          in.host.small_kernel_us * us,
          fabric::group_of(links_of(in), in.parallel.tensor),
          per_gpu(in),
          dies.all_reduce_latency_s(),
          dies.all_reduce_bytes_per_s()};
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
  check_parallel(in.architecture, ranks(in), in.fabric.max_ranks * per_gpu(in), problems, place + "/parallel/tensor");
  check_precision(in.precision, in.architecture, in.gpu, problems, place + "/precision", warnings);
  if (in.parallel.decode_context > 1)
    problems.add(place + "/parallel/decode_context",
                 "{}: step times leave out the gather of queries and the reduction of partial outputs that it adds to "
                 "every layer; ask fit, or state step times in cost/fixed",
                 in.parallel.decode_context);
  if (in.parallel.tensor > in.fabric.max_ranks) {
    problems.add(place + "/parallel/tensor", "tensor {} exceeds the {} of one {} domain; use at most {}",
                 in.parallel.tensor, core::counted(in.fabric.max_ranks, "GPU"), in.fabric.name, in.fabric.max_ranks);
  }
  const auto blocks = model::blocks_of(in.architecture).attention;
  if (std::any_of(blocks.begin(), blocks.end(),
                  [](const auto& g) { return g.windowed > 0 && g.attention->window_is_chunk; })) {
    warnings.push_back(in.architecture.name +
                       ": decode attention in chunked layers is charged like a sliding window of the "
                       "same size, about twice the tokens they read on average");
  }
}

StepModel::StepModel(const StepModelInput& in)
    : in_(in),
      dies_(in.gpu, in.device),
      power_(power_of(in)),
      device_(device_of(in, dies_)),
      token_operators_(token_operators(operator_input(in))),
      row_operators_(row_operators(operator_input(in))),
      attention_(attention_model(operator_input(in))),
      host_(compile(in.host, in.async_scheduling)) {
  if (in.cuda_graphs) graph_sizes_ = capture_sizes(in.max_num_seqs, in.max_num_batched_tokens);
  if (in.kernels != nullptr) use_tables();
  in_.kernels = nullptr;
  change_prefill();
}

// Measured FP8 multiplications contain the conversion of their inputs.
void StepModel::use_tables() {
  const KernelTables& t = *in_.kernels;
  const OperatorInput oi = operator_input(in_);
  const std::int32_t most_rows = std::min(in_.max_num_seqs, in_.max_num_batched_tokens);
  if (measures_fp8(t, oi)) {
    contains_conversion_ = true;
    in_.host.quantise_kernels_fp8 = 0;
    token_operators_ = token_operators(oi);
    std::erase_if(token_operators_,
                  [](const Operator& op) { return op.kind == Kind::Convert && op.weights == precision::Format::Fp8; });
  }
  merge_measured_experts(t, oi, token_operators_);
  for (const Operator& op : token_operators_)
    token_curves_.push_back(measured_curve(t, oi, op, in_.max_num_batched_tokens));
  for (const Operator& op : row_operators_) row_curves_.push_back(measured_curve(t, oi, op, most_rows));
  for (int c = 0; c < 2; ++c) {
    measured_[static_cast<std::size_t>(c)] =
        measured_attention(t, oi, c, {in_.max_num_batched_tokens, most_rows, in_.max_model_len});
  }
}

// A chunk's kernel is measured with its launch, and the decoders of its step share it with a launch of their own.
double StepModel::attention_launches(bool mixed) const {
  double launches = attention_.kernels;
  for (const MeasuredAttention& m : measured_)
    if (!m.decode.empty() && (!mixed || !m.prefill.empty())) launches -= m.layers;
  return launches;
}

double StepModel::attention_launch_s(bool mixed) const {
  const Efficiency& e = in_.efficiency;
  const double launches = attention_launches(mixed);
  const double absorb = attention_.absorb.count * attention_.absorb.math.efficiency.floor_us;
  const double floors = (launches * e.attention_floor_us + absorb) * us + launches * dies_.launch_s();
  return floors + (mixed ? launches * e.piecewise_launch_us * us : 0.0);
}

TimedOperator StepModel::time(const Operator& op, const MeasuredCurve* curve, double units, bool graph) const {
  TimedOperator out = {&op, evaluate(op, units, device_, graph)};
  out.compute_s = out.time.compute_s;
  if (curve == nullptr || curve->empty() || units <= 0) return out;
  const KernelTime k = curve->at(units);
  out.from_table = true;
  out.origin = k.origin;
  out.extrapolated = k.extrapolated;
  OperatorTime& t = out.time;
  const double launch = graph ? 0.0 : in_.efficiency.eager_launch_us * us;
  const double seconds =
      op.count * (std::max(k.seconds, launch) +
                  (op.kind == Kind::AllReduce ? die_collective_s(op.unit_bytes * units, device_) : 0.0));
  if (op.kind == Kind::AllReduce) {
    t.bandwidth_s = std::min(t.bandwidth_s, seconds);
    t.latency_s = seconds - t.bandwidth_s;
    t.floor_s = 0;
    return out;
  }
  // A kernel's launch is a launch; the rest goes to the roof that its work is nearer to.
  const bool compute = t.compute_s >= t.memory_s;
  t.floor_s = std::min(seconds, t.floor_s);
  t.compute_s = compute ? seconds - t.floor_s : 0;
  t.memory_s = compute ? 0 : seconds - t.floor_s;
  out.compute_s = compute ? t.compute_s : std::min(out.compute_s, t.memory_s);
  return out;
}

StepModel::TimedPart StepModel::part(const std::vector<Operator>& ops, const std::vector<MeasuredCurve>& curves,
                                     double units, bool graph) const {
  TimedPart out;
  out.operators.reserve(ops.size());
  for (std::size_t i = 0; i < ops.size(); ++i) {
    out.operators.push_back(time(ops[i], i < curves.size() ? &curves[i] : nullptr, units, graph));
    if (dies_.changed()) cross(out.operators.back(), units);
  }
  if (!power_.known() || units <= 0) return out;
  const WorkEnergy work = work_of(out.operators, units);
  out.work_j = work.compute_j + work.traffic_j;
  if (power_.limited()) slow(out, work);
  return out;
}

std::vector<TimedOperator> StepModel::token_times(std::int32_t n) const {
  const Padded p = padded(n);
  return part(token_operators_, token_curves_, p.tokens, p.graph).operators;
}

std::vector<TimedOperator> StepModel::row_times(std::int32_t n) const {
  return part(row_operators_, row_curves_, n, in_.cuda_graphs).operators;
}

Parts StepModel::tokens(std::int32_t n, bool mixed) const {
  Parts parts;
  if (n <= 0) return parts;
  const Padded p = padded(n);
  const TimedPart timed = part(token_operators_, token_curves_, p.tokens, p.graph);
  for (const TimedOperator& t : timed.operators) add(parts, t.time, factor(mixed));
  parts.work_j = timed.work_j;
  parts.host_s += factor(mixed) * attention_launch_s(mixed);
  return parts;
}

Parts StepModel::rows(std::int32_t n, bool mixed) const {
  Parts parts;
  const TimedPart timed = part(row_operators_, row_curves_, n, in_.cuda_graphs);
  for (const TimedOperator& t : timed.operators) add(parts, t.time, factor(mixed));
  parts.work_j = timed.work_j;
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
  const MeasuredAttention& table = measured(layer_class);
  if (!table.decode.empty() && decoders > 0) {
    r.compute_s = 0;
    r.memory_s = table.decode.at(decoders, context).seconds;
  }
  if (dies_.changed() || power_.limited()) cross_decode(layer_class, decoders, context, r);
  if (layer_class == 0 && !attention_.fixed.empty()) {
    const Rooflines f = attention_.fixed.at(decoders, 0);
    r.compute_s += f.seconds();
    r.memory_s += f.seconds();
    r.flops += f.flops;
    r.bytes += f.bytes;
  }
  r.compute_s *= factor(mixed);
  r.memory_s *= factor(mixed);
  return r;
}

double StepModel::chunk_s(std::int32_t from, std::int32_t to) const {
  double seconds = 0;
  for (std::size_t i = 0; i < attention_.prefill.size(); ++i) {
    const ChunkClass& c = attention_.prefill[i];
    if (c.forms.empty()) continue;
    if (i < measured_.size() && !measured_[i].prefill.empty()) {
      seconds += measured_[i].prefill.chunk_s(from, to);
      continue;
    }
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
  double joules = energy_j(p) + energy_j(head) + chunk_w_ * core::to_seconds(shape.prefill_attention);
  p.compute_s += head.compute_s;
  p.memory_s += head.memory_s;
  if (shape.decode_requests > 0) {
    for (int c = 0; c < 2; ++c) {
      const std::int64_t context = c == 0 ? shape.decode_context : shape.decode_context_windowed;
      const Rooflines r = decode(c, shape.decode_requests, static_cast<double>(context), mixed);
      (r.compute_s >= r.memory_s ? p.compute_s : p.memory_s) += r.seconds();
      const DecodeEnergy e = decode_energy(c);
      joules += e.fixed + e.per_decoder * shape.decode_requests + e.per_context * static_cast<double>(context) +
                power_.active_w() * r.seconds();
    }
  }
  StepTime t;
  t.compute = nearest(p.compute_s) + shape.prefill_attention;
  t.memory = nearest(p.memory_s);
  t.network = nearest(p.latency_s + head.latency_s + (p.bandwidth_s + head.bandwidth_s) / offer.scale_up);
  t.host = nearest(p.host_s + head.host_s);
  const core::Duration gpu = t.compute + t.memory + t.network + t.host;
  t.energy_uj = std::llround(joules * 1e6);
  t.host.ps += host_.extra(gpu.ps, shape.decode_requests, shape.prefill_requests, shape.prefill_tokens);
  t.total = t.compute + t.memory + t.network + t.host;
  t.scale_up_bytes = std::llround(p.bytes_sent) + std::llround(head.bytes_sent);
  return t;
}

}  // namespace servecast::cost
