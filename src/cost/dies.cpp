#include "cost/dies.hpp"

#include <algorithm>
#include <cmath>

namespace servecast::cost {
namespace {

constexpr double tera = 1e12;
constexpr double nano = 1e-9;

// The machines of every calibration (B200, GB200): specified link; assumed extra latency.
constexpr double measured_link_tb_s = 10;
constexpr double measured_far_ns = 60;
constexpr double interleaved = 0.5;
constexpr double localised = 0.05;        // assumed: tables, norms and what a head split leaves over (SPEC 9.2: 0-0.1)
constexpr double link_achieved = 0.90;    // assumed: protocol overhead, as much as HBM streams lose
constexpr double dependent_accesses = 3;  // assumed: pointer, data, completion of one small kernel, one after the other
constexpr double output_tile = 256;       // assumed: rows and columns that a pair of SMs computes together
constexpr double l2_bytes_per_sm_clock = 64;     // assumed: 17.6 TB/s on a B200 (SPEC 9.2: 10-20)
constexpr double die_all_reduce_s = 2e-6;        // assumed: SPEC 9.2
constexpr double die_all_reduce_achieved = 0.8;  // assumed: 4 of 5 TB/s per direction (SPEC 9.2)

// Bytes that SMs fetch beyond copies in their own half: one read by each die, and of further reads those that find no
// copy. held: share that does.
double fetched(double bytes, double reads, double held) {
  return bytes * (std::min(reads, 2.0) + std::max(0.0, reads - 2.0) * (1.0 - held));
}

double tiles(double width) { return std::max(1.0, std::ceil(width / output_tile)); }

// A matrix multiplication of `rows` rows: weights are read by every tile of rows, inputs by every tile of columns.
DieTraffic product(double weights, double inputs, double outputs, double rows, double columns, double l2_bytes) {
  const double weight_reads = tiles(rows);
  const double input_reads = tiles(columns);
  const double operands = weights + inputs;
  const double held = operands > 0 ? std::min(1.0, l2_bytes / 2 / operands) : 1.0;
  DieTraffic t;
  t.l2_bytes = weights * weight_reads + inputs * input_reads + outputs;
  t.placed = fetched(weights, weight_reads, held);
  t.flow = fetched(inputs, input_reads, held) + outputs;
  return t;
}

DieTraffic times(DieTraffic t, double count) { return {t.l2_bytes * count, t.placed * count, t.flow * count}; }

// One expert's product; launches hold all that are hit.
DieTraffic experts_traffic(const Operator& op, double tokens, double l2_bytes) {
  const double copies = tokens * op.top_k;
  const double hit = distinct_experts(op.experts, op.top_k, tokens);
  const double rows = copies / hit;
  const double inputs = rows * op.k * op.math.activation_bytes;
  const double all = rows * op.unit_bytes;
  return times(product(op.weight_bytes, std::min(inputs, all), std::max(0.0, all - inputs), rows, op.n, l2_bytes),
               hit * op.count);
}

}  // namespace

DieTraffic operator_traffic(const Operator& op, double units, double l2_bytes) {
  if (units <= 0) return {};
  switch (op.kind) {
    case Kind::Gemm: {
      const double all = op.unit_bytes * units;
      const double inputs = std::min(all, units * op.k * op.math.activation_bytes);
      return times(product(op.weight_bytes, inputs, all - inputs, units, op.n, l2_bytes), op.count);
    }
    case Kind::Experts: return experts_traffic(op, units, l2_bytes);
    case Kind::Small: return times(streamed_traffic(0, op.unit_bytes * units), op.count);
    default: return {};
  }
}

DieTraffic streamed_traffic(double placed_bytes, double flow_bytes) {
  return {placed_bytes + flow_bytes, placed_bytes, flow_bytes};
}

DieTraffic shared_traffic(double placed_bytes, double flow_bytes, double tile_reads) {
  return {placed_bytes * std::max(1.0, tile_reads) + flow_bytes, fetched(placed_bytes, tile_reads, 1.0), flow_bytes};
}

Dies::Dies(const hardware::Gpu& device, const DeviceSettings& settings) {
  const double mhz = device.peak_mhz > 0 ? device.peak_mhz : device.boost_mhz;
  l2_bytes_per_s_ = device.sm_count * l2_bytes_per_sm_clock * mhz * 1e6;
  l2_bytes_ = device.l2_mb * 1e6;
  const double link = settings.die_link_tb_s.value_or(device.die_link_tb_s);
  present_ = device.dies == 2 && link > 0;
  const bool split = settings.placement == Placement::DevicePerDie && !device.whole.empty();
  if (!present_ && !split) return;
  const double per_direction = link * tera / 2;
  measured_ = {interleaved, interleaved, measured_link_tb_s * tera / 2 * link_achieved};
  now_ = {interleaved, interleaved, per_direction * link_achieved};
  double far = interleaved;
  if (settings.placement == Placement::Localised) now_.placed = far = localised;
  if (split) {
    now_.placed = now_.flow = far = 0;
    link_latency_s_ = die_all_reduce_s;
    link_bytes_per_s_ = per_direction * die_all_reduce_achieved;
  }
  const double far_ns = device.far_l2_ns > 0 ? device.far_l2_ns : measured_far_ns;
  launch_s_ = dependent_accesses * (far * far_ns - interleaved * measured_far_ns) * nano;
  changed_ =
      split || link != measured_link_tb_s || settings.placement != Placement::Unified || far_ns != measured_far_ns;
}

// Below its measured time the crossing was hidden, and shows once it is longer. Where it fills the measured time (our
// bytes may exceed the true ones) the link was the limit, and the time follows it down to the next resource.
double Dies::body_s(double measured_s, double others_s, const DieTraffic& t) const {
  if (!changed_ || !present_ || measured_s <= 0) return measured_s;
  const double before = bytes(t, measured_) / measured_.bytes_per_s;
  const double now = crossing_s(t);
  if (before < measured_s) return std::max(measured_s, now);
  return std::max(std::min(measured_s, others_s), measured_s * now / before);
}

}  // namespace servecast::cost
