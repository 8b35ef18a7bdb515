#include "fidelity/kv_rows.hpp"

#include "config/json_reader.hpp"
#include "core/units.hpp"
#include "fidelity/names.hpp"
#include "scenario/library.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>

namespace servecast::fidelity {
namespace {

// False when no such document exists.
template <typename T>
bool read_built_in(scenario::Kind kind, const std::string& name, T& value) {
  const auto text = scenario::find(kind, name);
  if (!text) return false;
  value = config::read<T>(config::Document::from_text(*text, name));
  return true;
}

using precision::Format;

// A logged activation peak this many times below that of the default limits shows that they were changed, and refuses
// the row where the cache differs by more than this share for it. Assumed.
constexpr double contradicted_peak = 2;
constexpr double mattering_share = 0.03;

double number(const CsvRow& row, const std::string& column) {
  const auto found = row.find(column);
  return found == row.end() ? 0 : std::strtod(found->second.c_str(), nullptr);
}

// The number after a setting's name in a note, "max_num_seqs 128" or "max_num_seqs=128".
std::optional<std::int32_t> noted(const std::string& note, const std::string& setting) {
  const std::size_t at = note.find(setting);
  if (at == std::string::npos) return std::nullopt;
  const std::size_t digits = note.find_first_of("0123456789", at);
  if (digits > at + setting.size() + 1) return std::nullopt;
  return std::atoi(note.c_str() + digits);
}

// Log names of GPUs whose profile has another name.
std::string gpu_name(const std::string& text) {
  static const std::map<std::string, std::string> aliases = {
      {"h100 80gb", "h100"},      {"a100 80gb", "a100-80gb"},    {"a6000 48gb", "a6000"},
      {"mi300x 192gb", "mi300x"}, {"rtx 3090 24gb", "rtx-3090"}, {"rtx 5080 16gb", "rtx-5080"},
      {"t4 16gb", "t4"},          {"b200-class", "b200"},        {"141gb-class", "h200"}};
  for (const auto& [prefix, name] : aliases)
    if (lower_case(text).starts_with(prefix)) return name;
  return "";
}

// Models of a family that differ only in what weights hold.
std::string model_name(const std::string& text) {
  static const std::map<std::string, std::string> aliases = {{"llama-3-8b", "llama-3.1-8b"}};
  const auto alias = aliases.find(lower_case(text));
  return alias == aliases.end() ? lower_case(text) : alias->second;
}

std::string read_gpu(const CsvRow& row, hardware::Gpu& gpu) {
  const std::string name = gpu_name(row.at("gpu"));
  if (!name.empty() && read_built_in(scenario::Kind::Gpu, name, gpu)) {
    if (number(row, "total_gpu_gib") > 0) gpu.memory_gib = number(row, "total_gpu_gib");
    return "";
  }
  // An unnamed card with its memory stated is one on PCIe as far as memory is concerned.
  gpu.name = row.at("gpu");
  gpu.memory_gib = number(row, "total_gpu_gib");
  return gpu.memory_gib > 0 ? "" : "gpu (" + row.at("gpu") + ")";
}

std::string read_formats(const CsvRow& row, scenario::FitInput& in) {
  const std::string weights = row.at("weight_dtype");
  in.formats = in.architecture.formats;
  if (weights.starts_with("mxfp4") || weights == "bf16" || weights == "fp16") {
    if (weights.find("Marlin") != std::string::npos) {
      hardware::Gpu older = in.gpu;
      older.architecture = "ampere";
      in.padding = scenario::padding_of(in.formats, older);
    }
  } else if (weights == "fp8") {
    in.formats = model::quantised(in.formats, Format::Fp8);
  } else if (weights == "awq-int4") {
    in.formats = model::quantised(in.formats, Format::Int4Group128);
  } else if (weights == "w8a8") {
    in.formats = model::quantised(in.formats, Format::Int8);
  } else {
    return "weight_dtype (" + weights + ")";
  }
  if (row.at("kv_dtype") == "fp8") in.kv_cache = Format::Fp8;
  return "";
}

std::string read_stack(const CsvRow& row, std::span<const scenario::Stack> stacks, KvRow& out) {
  static const std::map<std::string, scenario::Engine> engines = {
      {"vLLM", scenario::Engine::Vllm}, {"SGLang", scenario::Engine::Sglang}, {"TRT-LLM", scenario::Engine::Trtllm}};
  const auto engine = engines.find(row.at("engine"));
  if (engine == engines.end()) return "engine (" + row.at("engine") + " has no stack)";
  const scenario::StackMatch match = scenario::nearest_stack(stacks, engine->second, row.at("version"));
  out.match = match.match;
  out.input.stack = *match.stack;
  if (engine->second == scenario::Engine::Vllm && row.at("version").starts_with("0.2."))
    return "recipe (vLLM before 0.3 sized its cache without profiling memory)";
  return "";
}

void read_settings(const CsvRow& row, KvRow& out) {
  engine::Settings& s = out.input.settings;
  const std::string& note = row.at("note");
  s.max_num_seqs = noted(note, "max_num_seqs");
  s.max_num_batched_tokens = noted(note, "max_num_batched_tokens");
  if (const auto chunk = noted(note, "chunked prefill")) s.max_num_batched_tokens = chunk;
  if (note.find("enforce-eager") != std::string::npos) s.cuda_graphs = false;
  if (number(row, "max_model_len") > 0)
    s.max_model_len = static_cast<std::int32_t>(number(row, "max_model_len"));
  else if (row.at("model") == "Llama-3-8B")
    s.max_model_len = 8192;  // its own limit, before 3.1 raised it
  if (number(row, "block_size") > 0) s.block_size = static_cast<std::int32_t>(number(row, "block_size"));
  const double share = number(row, "util_or_fraction");
  if (share > 0)
    s.gpu_memory_utilization = share;
  else if (out.input.stack.engine == scenario::Engine::Vllm)
    s.gpu_memory_utilization = 0.9;
  out.assumed_utilization = share <= 0;
}

// What an incomplete row leaves open and the rest of it shows to matter.
std::string unstated(const CsvRow& row, const KvRow& out) {
  if (row.at("note").find("connector") != std::string::npos)
    return "connector memory (a KV connector holds some of its own)";
  if (out.input.architecture.encoder_tokens > 0)
    return "activation_peak_gib (an encoder's own activations are not modelled)";
  const bool two_layouts = out.input.formats.experts == Format::Mxfp4 && out.input.gpu.architecture == "hopper";
  const bool named = row.at("weight_dtype").find("Marlin") != std::string::npos;
  if (two_layouts && out.weights_gib == 0 && !named)
    return "weights_gib_per_gpu (MXFP4 experts take 64.3 GiB with Triton kernels, 65.9 with Marlin)";
  if (out.activation_gib == 0 || out.input.settings.max_num_seqs) return "";
  const double peak = scenario::fit(out.input).capacity.activation_peak / core::GiB;
  if (peak < contradicted_peak * out.activation_gib) return "";
  if (peak - out.activation_gib < mattering_share * out.kv_gib) return "";
  return fmt::format("max_num_seqs (a peak of {:g} GiB was logged where the engine's default takes {:.2f})",
                     out.activation_gib, peak);
}

std::string complete(const CsvRow& row, std::span<const scenario::Stack> stacks, KvRow& out) {
  if (std::string missing = read_stack(row, stacks, out); !missing.empty()) return missing;
  if (!read_built_in(scenario::Kind::Model, model_name(row.at("model")), out.input.architecture))
    return "model (" + row.at("model") + " is not in models/)";
  if (std::string missing = read_gpu(row, out.input.gpu); !missing.empty()) return missing;
  if (number(row, "pp") > 1) return "pipeline stages (pp " + row.at("pp") + " is not supported)";
  if (row.at("note").find("draft") != std::string::npos) return "draft model (weights of its head are not stated)";
  if (std::string missing = read_formats(row, out.input); !missing.empty()) return missing;
  out.input.tensor = static_cast<std::int32_t>(number(row, "tp"));
  read_settings(row, out);
  if (auto problem = scenario::fit_problem(out.input)) return *problem;
  return unstated(row, out);
}

}  // namespace

KvRow kv_row(const CsvRow& row, std::span<const scenario::Stack> stacks) {
  KvRow out;
  out.id = row.at("id");
  out.weights_gib = number(row, "weights_gib_per_gpu");
  out.activation_gib = number(row, "activation_peak_gib");
  out.kv_gib = number(row, "kv_gib_per_gpu_reported");
  out.blocks = number(row, "gpu_blocks");
  out.tokens = number(row, "kv_tokens");
  out.refused = complete(row, stacks, out);
  return out;
}

}  // namespace servecast::fidelity
