#include "calibrate/flags.hpp"

#include <string_view>

namespace servecast::calibrate {

namespace {

using cost::kernels::DataType;
using cost::kernels::Family;

struct Flag {
  std::string_view gpu;    // empty: all
  std::string_view stack;  // starts with
  std::string_view table;  // contains
  bool (*applies)(const Key&, const Observation&);
  std::string_view reason;
};

bool any(const Key&, const Observation&) { return true; }
bool block_scaled(const Key& k, const Observation&) { return k.type == DataType::Fp8Block; }
bool short_window(const Key&, const Observation& r) { return r.x[5] == 128; }

constexpr Flag flags[] = {
    // floors of 150-190 us on B200 and 55-85 us on Hopper at every small shape
    {"", "vllm-0.22", "gemm", block_scaled, "bound by the host, not the kernel"},
    {"", "vllm-0.24", "gemm", block_scaled, "bound by the host, not the kernel"},
    // 30 % of unwindowed rows beat the arithmetic peak; grouped heads up to 300 times too fast
    {"h200", "vllm-0.19.0", "context_attention", any, "corrupt file"},
    // equal to the unwindowed rows
    {"h200", "vllm-0.19.0", "generation_attention", short_window, "window not applied"},
    // 6 %, 15 % of rows beat HBM; large KV at 0.36 of HBM where later releases reach 0.88
    {"b200", "trtllm-1.2.0rc5", "generation_attention", any, "beats the memory bandwidth"},
    {"b200", "trtllm-1.3.0rc15", "generation_attention", any, "beats the memory bandwidth"},
    {"b200", "trtllm-1.3.0rc10", "generation_attention", any, "old kernel"},
    {"h100", "trtllm-1.2.0rc5", "generation_attention", any, "beats the memory bandwidth"},
    {"h200", "trtllm-1.2.0rc5", "generation_attention", any, "beats the memory bandwidth"},
    // identical to the H100 files
    {"h200", "sglang-0.5.6.post2", "wideep_deepep", any, "copy of another GPU's file"},
};

}  // namespace

std::string flagged(const TableName& t, const Key& key, const Observation& row) {
  for (const Flag& f : flags) {
    const bool here =
        (f.gpu.empty() || t.gpu == f.gpu) && t.stack.starts_with(f.stack) && t.table.find(f.table) != std::string::npos;
    if (here && f.applies(key, row)) return "flagged: " + std::string(f.reason);
  }
  return "";
}

}  // namespace servecast::calibrate
