// Kernel times of one GPU under one serving stack, fitted to operator tables: physics times a residual surface per
// family and format, and measured curves for collectives. KernelProfile is the document
// (hardware_profiles/stacks/<stack>/kernels/<gpu>.json); Kernels is the same, compiled for a GPU, as pure functions.
// Times are of one launch on one rank, inside a CUDA graph unless said otherwise; nothing of the host is in them.
#pragma once

#include "cost/kernels/curve.hpp"
#include "cost/kernels/expert_load.hpp"
#include "cost/kernels/family.hpp"
#include "cost/kernels/fitted.hpp"
#include "hardware/gpu.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace servecast::config {
class Fields;
}

namespace servecast::cost::kernels {

// One operator table that the profile was fitted to. used + dropped = rows; duplicates are averaged into one.
struct Source {
  std::string file;
  std::string sha256;
  std::int64_t rows = 0;
  std::int64_t used = 0;
  std::vector<Dropped> dropped;
};

struct KernelProfile {
  std::string gpu;           // name of a GPU profile
  std::string architecture;  // of that GPU
  std::string stack;         // e.g. "vllm-0.19.0"
  std::string source = "fitted to the measured operator tables listed under sources";
  std::string note;
  std::vector<Source> sources;
  std::vector<std::vector<double>> knots;  // lists that axes of surfaces name, in documents only
  std::vector<Fit> fits;
  std::vector<Curve> curves;
};

void describe(config::Fields& f, Source& s);
void describe(config::Fields& f, KernelProfile& p);

struct KernelTime {
  double seconds = 0;
  hardware::Evidence origin = hardware::Evidence::Measured;  // Derived: other GPU, or a stand-in for a missing format
  bool extrapolated = false;                                 // outside what was measured
  double error = 0;  // 90th percentile of the relative error on key groups the fit did not see
};

struct GemmShape {
  double m = 0, n = 0, k = 0;  // rows (tokens), output width, input width on this rank; m is taken literally: kernels
                               // for m % 4 != 0 differ, pass the padded batch for captured steps
  DataType type = DataType::Bf16;
};

// heads and kv_heads are per rank. context: KV tokens read per sequence, the step's own included. window 0: none.
struct DecodeShape {
  double batch = 0, heads = 0, kv_heads = 0, head_dim = 0, context = 0;
  double window = 0;
  DataType kv = DataType::Bf16;
  bool warm_l2 = false;  // true: KV below the L2 size is resident, as in the benchmark that made the tables
};

// tokens: new tokens of each of the batch's sequences; prefix: tokens already cached (never measured: extrapolated).
struct PrefillShape {
  double batch = 1, tokens = 0, prefix = 0, heads = 0, kv_heads = 0, head_dim = 0;
  double window = 0;
  DataType type = DataType::Bf16;  // of the attention arithmetic
  DataType kv = DataType::Bf16;
};

// Multi-head latent attention of DeepSeek's dimensions (latent 512 + 64). module: with its projections, whose format is
// gemm; otherwise the attention kernel alone. Without prefix.
struct MlaShape {
  double batch = 1, heads = 0, tokens = 0;  // heads per rank; tokens: KV length (decode) or prompt length (prefill)
  DataType kv = DataType::Bf16;
  DataType gemm = DataType::Bf16;
  bool module = false;
  bool warm_l2 = false;
};

// Routed experts of one layer on one rank, without all-to-all. tokens: of the whole expert-parallel group; inter: of
// the whole expert, before tensor parallelism.
struct MoeShape {
  double tokens = 0, hidden = 0, inter = 0, experts = 0, top_k = 0, ep = 1, tp = 1;
  DataType type = DataType::Bf16;
  bool gated = true;        // three matrices per expert, else two
  bool balanced = false;    // uniform routing; serving is skewed
  std::string_view kernel;  // part of its name; empty: any. Of several, the one with most rows
};

enum class Collective : std::uint8_t { AllReduce, AllGather, ReduceScatter, AllToAll };

// DeepEP over `ranks` = 8 (4 on GB200): one dispatch or combine. low_latency: else the throughput kernels with sms SMs.
struct ExpertExchange {
  double tokens = 0, hidden = 0, top_k = 0, experts = 0;
  double sms = 24;
  bool low_latency = true;
  bool dispatch = true;
};

class Kernels {
 public:
  // Times on `gpu`; if it is not the profile's own GPU they are transferred by specification and labelled Derived, and
  // types that its tensor cores do not multiply are unknown.
  Kernels(const KernelProfile& profile, const hardware::Gpu& gpu);

  // Nothing: the profile has no such family, or not in this format. A missing head size, head ratio class or window
  // falls back to the nearest measured one, labelled Derived and extrapolated.
  std::optional<KernelTime> gemm(const GemmShape& s) const;
  std::optional<KernelTime> decode(const DecodeShape& s) const;
  std::optional<KernelTime> prefill(const PrefillShape& s) const;
  std::optional<KernelTime> mla_decode(const MlaShape& s) const;
  std::optional<KernelTime> mla_prefill(const MlaShape& s) const;
  // The absorbed projections beside the MLA decode kernel: before (query to latent) or after (latent to value).
  std::optional<KernelTime> mla_bmm(double tokens, double heads, DataType type, bool before) const;
  // expert_load(s.tokens, ...) gives the load; alpha 0 is balanced routing. Tabulate: drawing it takes microseconds.
  std::optional<KernelTime> moe(const MoeShape& s, const ExpertLoad& load) const;
  // rows x width activations to FP8: the scale search (compute_scale) or the scaling pass.
  std::optional<KernelTime> quantise(double rows, double width, bool compute_scale) const;
  // The engine's own all-reduce; bytes of the full buffer. graph: inside a CUDA graph, else launched eagerly.
  std::optional<KernelTime> all_reduce(double bytes, std::int32_t ranks, bool graph) const;
  // NCCL, launched without a graph (9-28 us floor). bytes as nccl-tests counts them.
  std::optional<KernelTime> nccl(Collective op, double bytes, std::int32_t ranks) const;
  // Any measured curve, by its operation and mode ("graph", "eager", "nccl").
  std::optional<KernelTime> curve(std::string_view op, std::string_view mode, double bytes, std::int32_t ranks) const;
  std::optional<KernelTime> exchange(const ExpertExchange& s) const;

  bool has(Family family) const;
  bool transferred() const { return transferred_; }
  const std::string& stack() const { return stack_; }

 private:
  const FittedKernel* find(Family family, DataType type, DataType kv, std::string_view variant) const;
  KernelTime timed(const FittedKernel& kernel, const Features& x, bool cold, bool stand_in) const;

  std::string stack_;
  bool transferred_ = false;
  bool same_architecture_ = true;
  std::vector<FittedKernel> kernels_;
  std::array<std::vector<std::uint16_t>, family_count> by_family_;
  std::vector<CurveSet> curve_sets_;
};

}  // namespace servecast::cost::kernels
