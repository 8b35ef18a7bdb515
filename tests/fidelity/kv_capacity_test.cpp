// KV capacity that real engines logged at start, against the memory recipe. Committed points are facts of public logs;
// the whole shared file is predicted when it is present, row by row, refused rows with the field they lack.
#include "catch.hpp"
#include "core/units.hpp"
#include "fidelity/documents.hpp"
#include "fidelity/kv_rows.hpp"
#include "scenario/fit.hpp"
#include "scenario/remedy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>

namespace {

using namespace servecast;
using namespace servecast::fidelity;
using core::GiB;

// One start log. memory_gib 0: as the GPU's profile states; 0 elsewhere: the engine's default.
struct Point {
  const char* log;
  const char* model;
  const char* gpu;
  const char* stack;
  double memory_gib;
  double utilization;
  std::int32_t tensor;
  std::int32_t max_model_len;
  std::int32_t max_num_batched_tokens;
  std::int32_t max_num_seqs;
  std::int64_t blocks;  // of 16 tokens, logged
  double bar;           // largest relative error accepted
};

constexpr Point points[] = {
    {"vllm-project/vllm#10517, 20,000", "llama-3.1-8b", "rtx-3090", "vllm-0.6", 23.58, 0.9, 1, 20000, 0, 0, 1952, 0.03},
    {"vllm-project/vllm#10517, 29,000", "llama-3.1-8b", "rtx-3090", "vllm-0.6", 23.58, 0.9, 1, 29000, 0, 0, 1478, 0.03},
    {"generative-computing/mellea#416", "qwen3-0.6b", "h100", "vllm-0.8", 79.19, 0.8, 1, 8192, 0, 0, 36184, 0.03},
    {"vLLM 0.7, 24 GB card", "qwen2.5-1.5b", "l4", "vllm-0.7", 22.06, 0.9, 1, 4096, 0, 0, 36332, 0.03},
    {"vLLM 0.7, T4", "qwen2.5-1.5b", "t4", "vllm-0.7", 14.56, 0.5, 1, 32768, 0, 0, 5519, 0.03},
    {"vLLM 0.26, RTX 5080", "qwen2.5-3b", "rtx-5080", "vllm-0.24", 0, 0.85, 1, 0, 0, 0, 12868, 0.03},
    {"vLLM 0.6.3, MI300X", "llama-2-7b", "mi300x", "vllm-0.6", 0, 0.9, 1, 4096, 0, 0, 20186, 0.03},
    {"inference-sim, TP 4", "llama-3.1-70b", "h100", "vllm-0.19", 0, 0.9, 4, 0, 2048, 128, 30425, 0.03},
    {"inference-sim, TP 2", "yi-34b", "h100", "vllm-0.19", 0, 0.9, 2, 0, 2048, 128, 20793, 0.03},
    {"vllm-project/vllm#11251", "llama-3.1-8b", "t4", "vllm-0.6", 15.77, 0.9, 2, 40000, 0, 0, 3852, 0.03},
};

scenario::FitInput input_of(const Point& p) {
  scenario::FitInput in;
  REQUIRE(read_built_in(scenario::Kind::Model, p.model, in.architecture));
  REQUIRE(read_built_in(scenario::Kind::Gpu, p.gpu, in.gpu));
  REQUIRE(read_built_in(scenario::Kind::Stack, p.stack, in.stack));
  in.formats = in.architecture.formats;
  if (p.memory_gib > 0) in.gpu.memory_gib = p.memory_gib;
  in.tensor = p.tensor;
  in.settings.gpu_memory_utilization = p.utilization;
  if (p.max_model_len > 0) in.settings.max_model_len = p.max_model_len;
  if (p.max_num_batched_tokens > 0) in.settings.max_num_batched_tokens = p.max_num_batched_tokens;
  if (p.max_num_seqs > 0) in.settings.max_num_seqs = p.max_num_seqs;
  return in;
}

scenario::FitInput gpt_oss_on_one_h100(const char* stack) {
  scenario::FitInput in;
  REQUIRE(read_built_in(scenario::Kind::Model, "gpt-oss-120b", in.architecture));
  REQUIRE(read_built_in(scenario::Kind::Gpu, "h100", in.gpu));
  REQUIRE(read_built_in(scenario::Kind::Stack, stack, in.stack));
  in.formats = in.architecture.formats;
  in.settings.gpu_memory_utilization = 0.9;
  return in;
}

// Rows whose logs disagree with the recipe or with themselves, and why. They are reported with their errors.
const char* outlier(const std::string& id) {
  if (id == "K01") return "counts 1.79 GiB outside PyTorch, which later releases removed";
  if (id == "K81") return "does not start: what is missing, not what is left";
  if (id == "K84")
    return "9.98 GiB of weights a rank where the checkpoint has 8; the process later exceeded its budget";
  return nullptr;
}

struct Scored {
  double predicted = 0;
  double measured = 0;
  const char* unit = "";
  double error() const { return predicted / measured - 1; }
};

Scored score(const KvRow& row, const scenario::FitReport& r) {
  if (row.blocks > 0) return {static_cast<double>(r.capacity.blocks), row.blocks, "blocks"};
  if (row.tokens > 0) return {static_cast<double>(r.kv_tokens), row.tokens, "tokens"};
  return {r.capacity.kv_bytes / GiB, row.kv_gib, "GiB"};
}

double weights_gib(const scenario::FitReport& r) { return r.capacity.weights / GiB; }

std::string line(const KvRow& row, const scenario::FitReport& r) {
  const Scored s = score(row, r);
  std::string out = fmt::format("{} {:10} {:>10.2f} against {:>10.2f} {:6} ", row.id, row.input.stack.name, s.predicted,
                                s.measured, s.unit);
  out += s.measured == 0 ? "no figure" : fmt::format("{:+6.2f} %", 100 * s.error());
  if (row.weights_gib > 0) out += fmt::format("  weights {:.2f} against {:.2f}", weights_gib(r), row.weights_gib);
  if (row.activation_gib > 0)
    out += fmt::format("  activations {:.2f} against {:.2f}", r.capacity.activation_peak / GiB, row.activation_gib);
  if (const char* why = outlier(row.id)) out += fmt::format("  OUTLIER: {}", why);
  return out;
}

std::string data_path() {
  const char* root = std::getenv("SERVECAST_DATA");
  return std::string(root ? root : SERVECAST_SOURCE_DIR "/../shared") + "/data/measured/kv_capacity.csv";
}

}  // namespace

TEST_CASE("block counts of public start logs are predicted within their bars") {
  for (const Point& p : points) {
    const scenario::FitReport r = scenario::fit(input_of(p));
    INFO(p.log << ": " << r.capacity.blocks << " blocks, logged " << p.blocks);
    CHECK(std::abs(static_cast<double>(r.capacity.blocks) / static_cast<double>(p.blocks) - 1) < p.bar);
  }
}

TEST_CASE("weights are those that start logs state") {
  const auto weights = [](const char* model, const char* gpu, const char* stack, std::int32_t tensor) {
    return weights_gib(scenario::fit(input_of({"", model, gpu, stack, 0, 0.9, tensor, 4096, 0, 0, 0, 0})));
  };
  CHECK(weights("llama-3.1-8b", "h100", "vllm-0.11", 1) == Approx(14.99).margin(0.01));
  CHECK(weights("llama-3.1-8b", "h100", "vllm-0.11", 2) == Approx(7.51).margin(0.01));
  CHECK(weights("qwen3-0.6b", "h100", "vllm-0.11", 1) == Approx(1.12).margin(0.01));
  CHECK(weights("qwen2.5-1.5b", "h200", "vllm-0.6", 1) == Approx(2.8875).margin(0.01));
  CHECK(weights("mistral-small-3.2-24b", "h100", "vllm-0.11", 1) == Approx(44.76).margin(0.2));
  CHECK(weights("gpt-oss-20b", "h100", "vllm-0.11", 1) == Approx(13.47).margin(0.2));
  CHECK(weights("gpt-oss-120b", "h100", "vllm-0.11", 1) == Approx(64.38).margin(0.1));
}

TEST_CASE("gpt-oss-120b does not fit one H100 at 0.90, and the change that makes it fit is named") {
  for (const char* stack : {"vllm-0.11", "vllm-0.19"}) {
    const scenario::FitInput in = gpt_oss_on_one_h100(stack);
    const scenario::FitReport r = scenario::fit(in);
    INFO(stack << ": " << r.reason);
    CHECK_FALSE(r.fits);
    const auto remedy = scenario::smallest_change(in);
    REQUIRE(remedy);
    CHECK(remedy->report.fits);
    WARN(stack << ": " << r.reason << "; " << remedy->text());
  }
}

TEST_CASE("every row of the shared start logs is predicted or refused with the field it lacks") {
  if (!std::filesystem::exists(data_path())) {
    WARN("skipped: " << data_path() << " is absent");
    return;
  }
  const std::vector<CsvRow> rows = load_csv(data_path()).rows;
  const std::vector<scenario::Stack> stacks = scenario::built_in_stacks();
  int scored = 0;
  std::string table;
  for (const CsvRow& csv : rows) {
    const KvRow row = kv_row(csv, stacks);
    if (!row.refused.empty()) {
      table += fmt::format("{} refused: missing {}\n", row.id, row.refused);
      continue;
    }
    const scenario::FitReport r = scenario::fit(row.input);
    table += line(row, r) + "\n";
    INFO(line(row, r));
    // K17 states 0.6 GiB more than the files of that checkpoint hold (19.3 GB).
    const bool other_weights = row.id == "K17" || row.id == "K84";
    if (row.weights_gib > 0 && !other_weights) CHECK(weights_gib(r) == Approx(row.weights_gib).margin(0.2));
    if (outlier(row.id)) continue;
    ++scored;
    CHECK(std::abs(score(row, r).error()) <= 0.03);
  }
  WARN(table);
  CHECK(scored >= 20);
}
