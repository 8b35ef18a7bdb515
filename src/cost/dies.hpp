// Traffic between the two dies of a GPU. Measured kernel times, and the efficiencies of rooflines, contain the crossing
// of the machine they were measured on: two dies, interleaved addresses, 10 TB/s. A placement or a link of other kind
// changes a time only as far as its crossing differs from that; with the same ones no time changes by a bit.
// docs/models/device.md derives the formulas. Bytes and seconds of all launches of an operator.
#pragma once

#include "cost/device.hpp"
#include "cost/operators.hpp"

namespace servecast::cost {

// What SMs ask of the memory system beyond their own die's copies. placed: of weights and KV cache, which localised
// placement keeps beside their readers; flow: of activations and results.
struct DieTraffic {
  double l2_bytes = 0;  // requests of the SMs to their L2
  double placed = 0;
  double flow = 0;
};

// l2_bytes: of the whole GPU; what both dies read is held twice, so half of it serves.
DieTraffic operator_traffic(const Operator& op, double units, double l2_bytes);
// Read or written once, by one die.
DieTraffic streamed_traffic(double placed_bytes, double flow_bytes);
// Keys and values that the query tiles of both dies read; tile_reads: how often, over all tiles.
DieTraffic shared_traffic(double placed_bytes, double flow_bytes, double tile_reads);

class Dies {
 public:
  Dies() = default;
  // device: what a rank runs on (rank_device()).
  Dies(const hardware::Gpu& device, const DeviceSettings& settings);

  bool present() const { return present_; }  // two dies behind the device
  bool changed() const { return changed_; }  // other than measured
  double l2_bytes() const { return l2_bytes_; }
  double l2_bytes_per_s() const { return l2_bytes_per_s_; }

  // Per direction.
  double crossing_bytes(const DieTraffic& t) const { return bytes(t, now_); }
  double crossing_s(const DieTraffic& t) const { return bytes(t, now_) / now_.bytes_per_s; }
  // Crossing of both directions beyond what was measured, for energy; negative where less crosses.
  double extra_bytes(const DieTraffic& t) const { return 2.0 * (bytes(t, now_) - bytes(t, measured_)); }
  // A kernel's time beyond its launch, given as measured; others_s: the slowest of its other resources.
  double body_s(double measured_s, double others_s, const DieTraffic& t) const;
  // What a launch's dependent accesses take beyond what was measured; negative where fewer go far.
  double launch_s() const { return launch_s_; }
  // All-reduce between the two devices of a GPU; 0: they are one device.
  double all_reduce_latency_s() const { return link_latency_s_; }
  double all_reduce_bytes_per_s() const { return link_bytes_per_s_; }

 private:
  struct State {
    double placed = 0.5;  // share of the placed bytes that live on the other die
    double flow = 0.5;
    double bytes_per_s = 1;  // achieved, per direction
  };
  static double bytes(const DieTraffic& t, const State& s) { return (s.placed * t.placed + s.flow * t.flow) / 2.0; }

  bool present_ = false;
  bool changed_ = false;
  double l2_bytes_ = 0;
  double l2_bytes_per_s_ = 0;
  double launch_s_ = 0;
  double link_latency_s_ = 0;
  double link_bytes_per_s_ = 0;
  State measured_;
  State now_;
};

}  // namespace servecast::cost
