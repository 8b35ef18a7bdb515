// The step model's answers to what-ifs of the device: crossings between dies, clocks below the board's limit, energy.
#include "cost/roofline.hpp"

#include <algorithm>

namespace servecast::cost {
namespace {

constexpr double attention_tile = 128;  // queries that read keys and values together

// Of an operator with its datasheet roofs: what else than the crossing bounds it.
double others_s(double compute_s, double bytes, const DieTraffic& t, double hbm_bytes_per_s, const Dies& dies) {
  const double l2_s = dies.l2_bytes_per_s() > 0 ? t.l2_bytes / dies.l2_bytes_per_s() : 0.0;
  return std::max({compute_s, bytes / hbm_bytes_per_s, l2_s});
}

}  // namespace

void StepModel::cross(TimedOperator& x, double units) const {
  OperatorTime& t = x.time;
  if (units <= 0 || x.op->kind == Kind::AllReduce || x.op->kind == Kind::AllGather) return;
  t.floor_s = std::max(0.0, t.floor_s + x.op->count * dies_.launch_s());
  const double before = t.roofline_s();
  const DieTraffic d = traffic(*x.op, units);
  const double now = dies_.body_s(before, others_s(x.compute_s, t.bytes, d, device_.hbm_bytes_per_s, dies_), d);
  if (now == before) return;
  x.die_link = now > before;
  if (now < before) {
    // Less crosses: arithmetic keeps its own time, what bounded the kernel shrinks.
    (t.compute_s > t.memory_s ? t.compute_s : t.memory_s) = now;
    x.compute_s = std::min(x.compute_s, now);
    return;
  }
  t.memory_s = now;
}

void StepModel::cross_decode(int layer_class, double decoders, double context, Rooflines& r) const {
  if (decoders <= 0) return;
  const DecodeClass& c = attention_.decode[static_cast<std::size_t>(layer_class)];
  const double arithmetic = c.empty() ? 0.0 : r.flops / c.flops_per_s;
  const DieTraffic d = decode_traffic(layer_class, decoders, context);
  const double before = r.seconds();
  const double now = dies_.body_s(before, others_s(arithmetic, r.bytes, d, device_.hbm_bytes_per_s, dies_), d);
  r.die_link = now > before;
  if (r.compute_s > r.memory_s && now < before) r.compute_s = now;
  if (r.compute_s <= r.memory_s || now > before) r.memory_s = now;
  const MeasuredAttention& table = measured(layer_class);
  if (!table.decode.empty()) r.memory_s = std::max(0.0, r.memory_s + table.layers * dies_.launch_s());
  if (!power_.limited()) return;
  const ClockedTime time = {std::min(std::max(arithmetic, r.compute_s), r.seconds()), r.memory_s, 0};
  const WorkEnergy work = {r.flops * power_.flop_j(Rate::Bf16), r.bytes * power_.memory_j()};
  const Slowdown s = power_.slowdown({&time, 1}, work);
  r.compute_s = time.compute_s * s.compute * s.all;
  r.memory_s *= s.all;
}

DieTraffic StepModel::decode_traffic(int layer_class, double decoders, double context) const {
  const DecodeClass& c = attention_.decode[static_cast<std::size_t>(layer_class)];
  return streamed_traffic(c.bytes_per_context * context, c.bytes_per_decoder * decoders);
}

// Every tile of queries reads the keys it sees; query heads that share a KV head do so one by one.
DieTraffic StepModel::chunk_traffic(std::int32_t from, std::int32_t to) const {
  const model::Attention& a = in_.architecture.attention;
  const double sharing =
      a.kind == model::AttentionKind::Gqa && a.kv_heads > 0 ? static_cast<double>(a.heads) / a.kv_heads : 1.0;
  DieTraffic sum;
  for (const ChunkClass& c : attention_.prefill) {
    if (c.forms.empty()) continue;
    const ChunkWork w = chunk_work(from, to, c.window, c.size);
    const ChunkLine& bytes = c.forms.front().bytes;
    const auto keys = static_cast<double>(std::max<std::int64_t>(1, w.keys));
    const double reads = static_cast<double>(w.pairs) / (attention_tile * keys) * sharing;
    const DieTraffic t = shared_traffic(bytes.per_key * keys, bytes.per_query * static_cast<double>(w.queries), reads);
    sum.l2_bytes += t.l2_bytes;
    sum.placed += t.placed;
    sum.flow += t.flow;
  }
  return sum;
}

WorkEnergy StepModel::work_of(const std::vector<TimedOperator>& times, double units) const {
  WorkEnergy work;
  for (const TimedOperator& x : times) {
    work.compute_j += x.time.flops * power_.flop_j(x.op->math.rate);
    work.traffic_j += x.time.bytes * power_.memory_j() + x.time.bytes_sent * power_.scale_up_j();
    if (dies_.changed()) work.traffic_j += dies_.extra_bytes(traffic(*x.op, units)) * power_.die_link_j();
  }
  return work;
}

void StepModel::slow(TimedPart& part, const WorkEnergy& work) const {
  std::vector<ClockedTime> times;
  times.reserve(part.operators.size());
  for (const TimedOperator& x : part.operators)
    times.push_back({x.compute_s, x.time.memory_s, x.time.floor_s + x.time.latency_s + x.time.bandwidth_s});
  const Slowdown s = power_.slowdown(times, work);
  part.work_j = power_.joules(work, s.clock);
  for (TimedOperator& x : part.operators) {
    x.compute_s *= s.compute * s.all;
    x.time.compute_s = x.compute_s;
    for (double* t : {&x.time.memory_s, &x.time.floor_s, &x.time.latency_s, &x.time.bandwidth_s}) *t *= s.all;
  }
}

DecodeEnergy StepModel::decode_energy(int layer_class) const {
  const DecodeClass& c = attention_.decode[static_cast<std::size_t>(layer_class)];
  DecodeEnergy e;
  if (!power_.known()) return e;
  const double byte = power_.memory_j();
  // A KV byte read once crosses with the probability of its placement.
  const double placed = dies_.extra_bytes(streamed_traffic(1, 0)) * power_.die_link_j();
  const double flow = dies_.extra_bytes(streamed_traffic(0, 1)) * power_.die_link_j();
  e.per_context = c.flops_per_context * power_.flop_j(Rate::Bf16) + c.bytes_per_context * (byte + placed);
  e.per_decoder = c.bytes_per_decoder * (byte + flow);
  if (layer_class != 0 || attention_.absorb.count <= 0) return e;
  const Operator& a = attention_.absorb;
  e.fixed = a.count * a.weight_bytes * byte;
  e.per_decoder += a.count * (a.flops * power_.flop_j(a.math.rate) + a.unit_bytes * byte);
  return e;
}

double StepModel::chunk_work_j(std::int32_t to) const {
  double joules = 0;
  for (const ChunkClass& c : attention_.prefill) {
    if (c.forms.empty()) continue;
    const ChunkWork w = chunk_work(0, to, c.window, c.size);
    const ChunkForm& f = c.forms.front();
    joules += f.flops.at(w) * power_.flop_j(Rate::Bf16) + f.bytes.at(w) * power_.memory_j();
  }
  return joules;
}

// Prefill attention is made of lines and curves that are compiled as they stand, so what-ifs change those: memory lines
// by the crossing of keys that both dies read, arithmetic by the clock that the longest chunk settles at.
void StepModel::change_prefill() {
  const std::int32_t longest = std::min(in_.max_num_batched_tokens, in_.max_model_len);
  if (dies_.changed() && dies_.present()) {
    const double per_key = dies_.crossing_s(shared_traffic(1, 0, 2));
    const double per_query = dies_.crossing_s(streamed_traffic(0, 1));
    for (ChunkClass& c : attention_.prefill)
      for (ChunkForm& f : c.forms) {
        f.memory.per_key = std::max(f.memory.per_key, f.bytes.per_key * per_key);
        f.memory.per_query = std::max(f.memory.per_query, f.bytes.per_query * per_query);
      }
    for (MeasuredAttention& m : measured_)
      m.prefill.change(in_.max_model_len, [&](double tokens, double seconds) {
        return std::max(seconds, dies_.crossing_s(chunk_traffic(0, static_cast<std::int32_t>(tokens))));
      });
  }
  if (!power_.known()) return;
  const WorkEnergy work = {chunk_work_j(longest), 0};
  const ClockedTime time = {chunk_s(0, longest) / factor(true), 0, 0};
  if (time.compute_s <= 0) return;
  double clock = 1;
  if (power_.limited()) {
    const Slowdown s = power_.slowdown({&time, 1}, work);
    clock = s.clock;
    const double by = s.compute * s.all;
    for (ChunkClass& c : attention_.prefill)
      for (ChunkForm& f : c.forms)
        for (double* line : {&f.compute.per_pair, &f.compute.per_query, &f.compute.per_key}) *line *= by;
    for (MeasuredAttention& m : measured_)
      m.prefill.change(in_.max_model_len, [by](double, double seconds) { return seconds * by; });
  }
  chunk_w_ = std::min(power_.most_w(), power_.active_w() + power_.joules(work, clock) / chunk_s(0, longest));
}

double StepModel::energy_j(const Parts& p) const {
  if (!power_.known()) return 0;
  const double seconds = p.total_s();
  return std::min(power_.most_w() * seconds, p.work_j + power_.active_w() * seconds);
}

}  // namespace servecast::cost
