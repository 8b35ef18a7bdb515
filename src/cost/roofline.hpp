// The step model in seconds: operator by operator, exact, uncompiled. It is what explain prints and what compiled.hpp
// turns into tables. Where a measured kernel table knows an operator its time replaces the roofline and its launch
// floor; small kernels keep the constant of the stack. A step is
//   tokens(n) + rows(r) + decode attention(D, S) + prefill attention(chunks) + host,
// where steps with prefill tokens ("mixed") run without full CUDA graphs.
#pragma once

#include "core/error.hpp"
#include "cost/attention.hpp"
#include "cost/device.hpp"
#include "cost/dies.hpp"
#include "cost/graphs.hpp"
#include "cost/host.hpp"
#include "cost/measured.hpp"
#include "cost/operators.hpp"
#include "cost/parallel.hpp"
#include "cost/power.hpp"
#include "cost/rate.hpp"
#include "cost/step_cost.hpp"
#include "fabric/profile.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace servecast::cost {

// References must outlive the model (not what is compiled from it). Requires: check_step_model() found nothing.
struct StepModelInput {
  const model::Architecture& architecture;
  const hardware::Gpu& gpu;  // that a rank runs on: rank_device()
  fabric::ScaleUp fabric;    // of the node; the GPU's own scale_up_gb_s, where known, replaces its nominal bandwidth
  Precision precision{};
  Parallel parallel{};
  std::int32_t max_num_batched_tokens = 8192;
  std::int32_t max_num_seqs = 256;
  std::int32_t max_model_len = 16384;
  bool cuda_graphs = true;
  bool async_scheduling = true;
  HostConstants host{};
  Efficiency efficiency{};
  DeviceSettings device{};
  const KernelTables* kernels = nullptr;  // read while the model is made; none: rooflines only
};

// Everything that can be wrong with an input. warnings: approximations by name, to be shown with results.
void check_step_model(const StepModelInput& in, core::Problems& problems, const std::string& place,
                      std::vector<std::string>& warnings);

// Seconds of one part of a step, by the resource that bounds each operator.
struct Parts {
  double compute_s = 0;
  double memory_s = 0;
  double latency_s = 0;    // of collectives
  double bandwidth_s = 0;  // of collectives, at nominal links
  double host_s = 0;       // launch floors
  double bytes_sent = 0;   // over the scale-up link, per rank
  double work_j = 0;       // energy of arithmetic and traffic, per rank

  double total_s() const { return compute_s + memory_s + latency_s + bandwidth_s + host_s; }
};

struct TimedOperator {
  const Operator* op = nullptr;
  OperatorTime time;
  bool from_table = false;  // else from datasheet peaks; what follows is of the table
  Evidence origin = Evidence::Measured;
  bool extrapolated = false;
  double compute_s = 0;   // its arithmetic, also where something else bounds it
  bool die_link = false;  // bound by the crossing between dies
};

// Energy of the decode attention of one class of layers, joules per rank: affine, fixed where there are decoders.
struct DecodeEnergy {
  double fixed = 0;
  double per_decoder = 0;
  double per_context = 0;
};

class StepModel {
 public:
  explicit StepModel(const StepModelInput& in);

  // Everything that depends on the number of tokens alone, attention launches included; and on the sampled rows alone.
  Parts tokens(std::int32_t n, bool mixed) const;
  Parts rows(std::int32_t n, bool mixed) const;
  // Decode attention of one class of layers; the latent absorption of MLA, states and cross attention belong to the
  // whole-context class (0).
  Rooflines decode(int layer_class, double decoders, double context, bool mixed) const;
  // Attention of the prefill chunk [from, to), seconds.
  double chunk_s(std::int32_t from, std::int32_t to) const;
  // The whole step; sums of prefill attention come in through the shape.
  StepTime step(const StepShape& shape, const LinkOffer& offer = {}) const;

  // Operator by operator, before factor(). Origins are of the kernel times, not of launch rules.
  std::vector<TimedOperator> token_times(std::int32_t n) const;
  std::vector<TimedOperator> row_times(std::int32_t n) const;

  // Whether tables time FP8 multiplications, conversion of their inputs included: whoever does it, it is in there.
  bool contains_conversion() const { return contains_conversion_; }

  const StepModelInput& input() const { return in_; }
  const AttentionModel& attention() const { return attention_; }
  const HostTime& host() const { return host_; }
  double factor(bool mixed) const { return mixed ? in_.host.prefill_factor : 1.0; }
  // Launches of the attention kernels, in a step with or without prefill tokens, before factor().
  double attention_launch_s(bool mixed) const;
  // How many of them no table's time includes already.
  double attention_launches(bool mixed) const;
  // Tables of one class of attention layers; their curves are empty where a roofline stands.
  const MeasuredAttention& measured(int layer_class) const { return measured_[static_cast<std::size_t>(layer_class)]; }
  Padded padded(std::int32_t n) const { return pad(graph_sizes_, n); }

  const Dies& dies() const { return dies_; }
  const Power& power() const { return power_; }
  DieTraffic traffic(const Operator& op, double units) const { return operator_traffic(op, units, dies_.l2_bytes()); }
  DieTraffic decode_traffic(int layer_class, double decoders, double context) const;
  DieTraffic chunk_traffic(std::int32_t from, std::int32_t to) const;
  DecodeEnergy decode_energy(int layer_class) const;
  // Energy of a part of a step beyond a waiting board: its work and the power of running kernels, the limit at most.
  double energy_j(const Parts& p) const;
  // Mean watts of prefill attention, the same way, that of the longest chunk standing for all.
  double chunk_w() const { return chunk_w_; }

 private:
  struct TimedPart {
    std::vector<TimedOperator> operators;
    double work_j = 0;
  };
  void use_tables();
  void change_prefill();
  double chunk_work_j(std::int32_t to) const;
  void cross(TimedOperator& t, double units) const;
  void cross_decode(int layer_class, double decoders, double context, Rooflines& r) const;
  WorkEnergy work_of(const std::vector<TimedOperator>& times, double units) const;
  void slow(TimedPart& part, const WorkEnergy& work) const;
  TimedPart part(const std::vector<Operator>& ops, const std::vector<MeasuredCurve>& curves, double units,
                 bool graph) const;
  TimedOperator time(const Operator& op, const MeasuredCurve* curve, double units, bool graph) const;

  StepModelInput in_;
  Dies dies_;
  Power power_;
  double chunk_w_ = 0;
  Device device_;
  std::vector<Operator> token_operators_;
  std::vector<Operator> row_operators_;
  std::vector<MeasuredCurve> token_curves_;  // one per operator, or none at all
  std::vector<MeasuredCurve> row_curves_;
  AttentionModel attention_;
  std::array<MeasuredAttention, 2> measured_;  // by class
  HostTime host_;
  bool contains_conversion_ = false;
  std::vector<std::int32_t> graph_sizes_;
};

}  // namespace servecast::cost
