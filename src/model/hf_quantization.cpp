#include "model/hf_quantization.hpp"

#include "model/hf_modules.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace servecast::model {
namespace {

using precision::Format;

constexpr std::size_t most_patterns = 20000;

std::optional<Format> group_format(std::string_view type, int bits, std::int32_t group) {
  if (type == "float" && bits == 8) return group == 0 ? Format::Fp8 : Format::Mxfp8;
  if (type == "float" && bits == 4 && group == 16) return Format::Nvfp4;
  if (type == "float" && bits == 4 && group == 32) return Format::Mxfp4;
  if (type == "int" && bits == 8 && group == 0) return Format::Int8;
  if (type == "int" && bits == 4 && group == 32) return Format::Int4Group32;
  if (type == "int" && bits == 4 && group == 128) return Format::Int4Group128;
  return std::nullopt;
}

std::optional<Format> fp8_format(HfReading& r) {
  const std::vector<double>& block = r.view.numbers_of("weight_block_size");
  if (block.empty()) return Format::Fp8;
  if (block.size() == 2 && block[0] == 128 && block[1] == 128) return Format::Fp8Block;
  r.problem("weight_block_size", "only [128, 128] is supported");
  return std::nullopt;
}

// compressed-tensors and new ModelOpt files: one group of layers with one weight format.
std::optional<Format> grouped_format(HfReading& r) {
  const HfView* groups = r.view.object("config_groups");
  if (!groups || groups->objects.size() != 1) {
    r.problem("config_groups",
              "several groups of layers with their own formats are not supported; state the formats in "
              "the model file");
    return std::nullopt;
  }
  const HfView* weights = groups->objects.begin()->second->object("weights");
  if (!weights) {
    r.problem("config_groups", "the group states no weights");
    return std::nullopt;
  }
  if (weights->text("strategy") == "block") {
    const std::vector<double>& block = weights->numbers_of("block_structure");
    if (block.size() == 2 && block[0] == 128 && block[1] == 128 && weights->number("num_bits") == 8.0)
      return Format::Fp8Block;
    r.problem("config_groups", "blocks other than 8-bit 128 x 128 are not supported");
    return std::nullopt;
  }
  const double bits = weights->number("num_bits").value_or(0);
  const double group = weights->number("group_size").value_or(0);
  const bool small = bits >= 0 && bits <= 64 && group >= 0 && group <= 65536;
  const auto format =
      small ? group_format(weights->text("type"), static_cast<int>(bits), static_cast<std::int32_t>(group))
            : std::nullopt;
  if (!format) {
    r.problem("config_groups",
              fmt::format("{}-bit {} weights in groups of {} are not supported", bits, weights->text("type"), group));
  }
  return format;
}

std::optional<Format> modelopt_format(HfReading& r) {
  const std::string algorithm = r.view.text("quant_algo");
  if (algorithm == "NVFP4") return Format::Nvfp4;
  if (algorithm == "FP8") return Format::Fp8;
  if (algorithm.empty() && r.view.has("config_groups")) return grouped_format(r);
  r.problem("quant_algo",
            fmt::format("\"{}\" is not supported; NVFP4 and FP8 are, other mixes can be stated in the model "
                        "file",
                        algorithm));
  return std::nullopt;
}

std::optional<Format> integer_format(HfReading& r) {
  const std::int32_t bits = r.integer_or("bits", r.integer_or("w_bit", 0));
  const std::int32_t group = r.integer_or("group_size", r.integer_or("q_group_size", 0));
  const auto format = bits == 4 ? group_format("int", bits, group) : std::nullopt;
  if (!format)
    r.problem("bits", fmt::format("{} bits in groups of {} are not supported; 4 in 32 or 128 are", bits, group));
  return format;
}

std::optional<Format> stated_format(HfReading& r) {
  const std::string method = r.view.text("quant_method");
  if (method == "fp8") return fp8_format(r);
  if (method == "mxfp4") return Format::Mxfp4;
  if (method == "compressed-tensors") return grouped_format(r);
  if (method == "awq" || method == "gptq") return integer_format(r);
  if (method == "modelopt" || (method.empty() && r.view.has("quant_algo"))) return modelopt_format(r);
  r.problem("quant_method",
            fmt::format("\"{}\" is not supported; fp8, mxfp4, compressed-tensors, modelopt, awq and gptq are", method));
  return std::nullopt;
}

std::vector<std::string> excluded_patterns(const HfReading& r) {
  std::vector<std::string> all;
  for (const std::string_view key : {"modules_to_not_convert", "ignore", "exclude_modules"}) {
    const std::vector<std::string>& some = r.view.texts_of(key);
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

// How many of a class's matrices over all blocks are quantised.
struct Share {
  std::int64_t quantised = 0;
  std::int64_t all = 0;

  void count(const std::vector<std::string>& modules, const std::vector<std::string>& excluded) {
    for (const std::string& module : modules) {
      ++all;
      const bool skipped = std::any_of(excluded.begin(), excluded.end(),
                                       [&](const std::string& pattern) { return covers(pattern, module); });
      if (!skipped) ++quantised;
    }
  }
  bool mostly() const { return 2 * quantised > all; }
};

void note_mixed(HfReading& r, std::string_view name, const Share& share, std::string_view format) {
  if (share.quantised == 0 || share.quantised == share.all) return;
  r.note(fmt::format("{}: {} of {} matrices are {}, the others 16-bit; all were counted as {}", name, share.quantised,
                     share.all, format, share.mostly() ? format : "16-bit"));
}

void apply(HfReading& r, Architecture& a, Format format, const std::vector<std::string>& excluded) {
  Share inputs;
  Share output;
  Share mlp;
  Share experts;
  for (std::int32_t layer = 0; layer < a.layers; ++layer) {
    const ModuleNames names = module_names(a, layer);
    inputs.count(names.attention_inputs, excluded);
    output.count(names.attention_output, excluded);
    mlp.count(names.mlp, excluded);
    experts.count(names.experts, excluded);
  }
  const Format plain = a.formats.attention;
  if (inputs.mostly()) a.formats.attention = format;
  if (output.mostly() != inputs.mostly()) a.formats.attention_output = output.mostly() ? format : plain;
  if (mlp.mostly()) a.formats.mlp = format;
  if (experts.mostly()) a.formats.experts = format;
  const std::string_view name = precision::name(format);
  note_mixed(r, "attention inputs", inputs, name);
  note_mixed(r, "attention output", output, name);
  note_mixed(r, "dense MLP and shared experts", mlp, name);
  note_mixed(r, "routed experts", experts, name);
}

}  // namespace

void read_quantization(HfReading& r, Architecture& a) {
  const std::optional<Format> format = stated_format(r);
  if (!format) return;
  const std::vector<std::string> excluded = excluded_patterns(r);
  if (excluded.size() > most_patterns) {
    r.problem("", fmt::format("{} excluded modules exceed {}", excluded.size(), most_patterns));
    return;
  }
  if (*format == Format::Mxfp4 && a.family == "gpt_oss") {
    a.formats.experts = Format::Mxfp4;  // the family's loader quantises nothing else, whatever the list says
  } else {
    apply(r, a, *format, excluded);
  }
  const bool fp8_cache = r.view.text("kv_cache_quant_algo") == "FP8" || r.view.has("kv_cache_scheme");
  if (fp8_cache) r.note("the checkpoint carries scales for an fp8 KV cache; choose it in the pool's precision section");
}

}  // namespace servecast::model
