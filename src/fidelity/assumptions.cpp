#include "fidelity/assumptions.hpp"

#include <algorithm>

namespace servecast::fidelity {

namespace {

using precision::Format;
using scenario::Engine;

constexpr Version vllm_async{0,
                             15};  // generation with 8,192-token steps on every large GPU (derived: TTFT at 8k prompts)
constexpr Version vllm_fp8_kv{0, 19};  // KV capacity of its rows is that of one-byte elements (derived)
constexpr Version vllm_more_memory{0, 17};
constexpr std::int32_t vllm_step_tokens = 8192;    // derived
constexpr std::int32_t vllm_seqs = 1024;           // derived: never binding below 512 clients
constexpr std::int32_t trtllm_seqs = 2048;         // specified: its default max_batch_size
constexpr std::int32_t trtllm_step_tokens = 8192;  // specified: its default max_num_tokens
constexpr double memory_share_017 = 0.95;          // derived
constexpr std::int64_t context_grain = 4096;       // assumed: longest request, rounded up so that configurations repeat

bool starts(const std::string& text, std::string_view prefix) { return text.starts_with(prefix); }

bool four_bit_experts(const model::Architecture& m) { return m.moe && m.formats.experts == Format::Mxfp4; }

// Checkpoints that ModelOpt quantised carry scales for an FP8 KV cache, which engines then use.
bool from_modelopt(const Deployment& d) { return lower_case(d.model_text).starts_with("nvidia/"); }

std::optional<Format> fp8_of(const Deployment& d) {
  const std::string experts = lower_case(d.experts);
  const bool block_native = d.model->formats.experts == Format::Fp8Block || d.model->formats.mlp == Format::Fp8Block;
  return experts == "fp8_block" || block_native ? Format::Fp8Block : Format::Fp8;
}

// Publishers of four-bit MoE checkpoints leave attention in 16 bits.
void set_four_bit(const Deployment& d, scenario::Precision& p, Format format) {
  if (four_bit_experts(*d.model)) return;
  if (!d.model->moe) {
    p.weights = format;
    return;
  }
  p.attention = Format::BFloat16;
  p.mlp = p.experts = format;
}

bool set_weights(const Deployment& d, scenario::Precision& p) {
  const std::string text = lower_case(d.weights);
  if (text.empty() || starts(text, "mxfp4")) return true;  // the checkpoint's own
  if (text == "fp8") {
    if (!four_bit_experts(*d.model)) p.weights = fp8_of(d);
  } else if (text == "fp4" || text == "nvfp4") {
    set_four_bit(d, p, Format::Nvfp4);
  } else if (text == "int4") {
    set_four_bit(d, p, Format::Int4Group32);
  } else if (starts(text, "bf16") || text == "fp16") {
    p.weights = Format::BFloat16;
  } else if (starts(text, "uncertain")) {
    // Submissions to MLPerf state the reference's format; theirs is the GPU's fastest.
    if (starts(d.gpu_architecture, "blackwell"))
      set_four_bit(d, p, Format::Nvfp4);
    else
      p.weights = Format::Fp8;
  } else {
    return false;
  }
  return true;
}

Format automatic_kv(const Deployment& d) {
  const std::string weights = lower_case(d.weights);
  const bool blackwell = starts(d.gpu_architecture, "blackwell");
  if (four_bit_experts(*d.model)) return blackwell ? Format::Fp8 : Format::BFloat16;
  if (from_modelopt(d)) return Format::Fp8;
  if (d.engine.engine == Engine::Trtllm) {
    const bool block = lower_case(d.experts) == "fp8_block";
    const bool quantised = weights == "fp8" || weights == "fp4" || weights == "nvfp4" || starts(weights, "uncertain");
    return quantised && !block ? Format::Fp8 : Format::BFloat16;
  }
  if (d.engine.engine == Engine::Vllm && d.engine.number >= vllm_fp8_kv) return Format::Fp8;
  return Format::BFloat16;
}

std::int32_t rounded_up(std::int64_t value, std::int64_t grain) {
  return static_cast<std::int32_t>((value + grain - 1) / grain * grain);
}

}  // namespace

std::optional<scenario::Precision> precision_of(const Deployment& d) {
  scenario::Precision p;
  if (!set_weights(d, p)) return std::nullopt;
  const std::string kv = lower_case(d.kv);
  if (kv.empty() || kv == "auto")
    p.kv_cache = automatic_kv(d);
  else if (starts(kv, "fp8"))
    p.kv_cache = Format::Fp8;
  else if (starts(kv, "bf16") || starts(kv, "fp16"))
    p.kv_cache = Format::BFloat16;
  else
    return std::nullopt;
  return p;
}

engine::Settings settings_of(const Deployment& d, const Load& load) {
  engine::Settings s;
  const std::int32_t longest = rounded_up(load.isl + load.osl, context_grain);
  s.max_model_len = std::max(std::min(longest, d.model->max_position), static_cast<std::int32_t>(load.isl + load.osl));
  if (d.engine.engine == Engine::Vllm) {
    s.max_num_seqs = vllm_seqs;
    if (d.engine.version.empty() || d.engine.number >= vllm_async) s.max_num_batched_tokens = vllm_step_tokens;
    if (d.engine.number == vllm_more_memory) s.gpu_memory_utilization = memory_share_017;
  }
  if (d.engine.engine == Engine::Trtllm) {
    s.max_num_seqs = trtllm_seqs;
    // A step must hold one whole prompt beside the sequences that decode.
    const std::int64_t room = load.isl + std::min<std::int64_t>(load.concurrency, trtllm_seqs);
    s.max_num_batched_tokens = std::max(trtllm_step_tokens, rounded_up(room, context_grain));
  }
  return s;
}

std::int64_t offline_requests(const Load& load) {
  const std::int64_t tokens = load.isl + load.osl;
  if (tokens <= 4352) return 3000;
  return tokens <= 10240 ? 1500 : 1000;
}

bool lengths_vary(const Load& load) {
  const auto one_of = [](std::int64_t n) { return n == 1024 || n == 8192; };
  return one_of(load.isl) && one_of(load.osl) && load.isl * load.osl < 8192 * 8192;
}

RowOptions client_settings(const Deployment& d, const Load& load, std::int32_t tensor) {
  RowOptions o;
  if (d.engine.engine != Engine::Trtllm) return o;
  const std::string model = lower_case(d.model_text);
  if (model == "meta-llama/llama-3.1-70b" && load.isl == 1024 && load.osl == 1024 && tensor <= 4)
    o.stream_interval = 20;
  return o;
}

}  // namespace servecast::fidelity
