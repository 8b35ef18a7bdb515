#include "model/hf_config.hpp"

#include "catch.hpp"
#include "config/document.hpp"
#include "config/json_reader.hpp"
#include "model/model_file.hpp"
#include "model/parameters.hpp"
#include "model_facts.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

using namespace servecast;
using precision::Format;

namespace {

std::filesystem::path data_folder() {
  const char* given = std::getenv("SERVECAST_DATA");
  const std::filesystem::path root =
      given ? std::filesystem::path(given) : std::filesystem::path(SERVECAST_SOURCE_DIR) / ".." / "shared";
  return root / "data" / "hf_configs";
}

std::string text_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

struct Imported {
  model::ImportResult result;
  core::Problems problems;
};

Imported import_folder(const std::filesystem::path& folder) {
  Imported i;
  const std::string config = text_of(folder / "config.json");
  const std::string quantization = text_of(folder / "hf_quant_config.json");
  i.result = model::import_hf_config({config, "config.json", quantization}, i.problems);
  return i;
}

Imported import_text(const std::string& text) {
  Imported i;
  i.result = model::import_hf_config(text, "c.json", i.problems);
  return i;
}

const std::string llama = R"("model_type": "llama", "num_hidden_layers": 2, "hidden_size": 64, "vocab_size": 100,
  "num_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 128, "max_position_embeddings": 512,
  "torch_dtype": "bfloat16")";

struct Pair {
  const char* folder;
  const char* name;
};

// Configurations of models in the table of facts.
constexpr Pair pairs[] = {{"Llama-2-7b-hf", "llama-2-7b"},
                          {"Llama-2-13b-hf", "llama-2-13b"},
                          {"Llama-2-70b-hf", "llama-2-70b"},
                          {"Meta-Llama-3.1-8B", "llama-3.1-8b"},
                          {"Meta-Llama-3.1-70B", "llama-3.1-70b"},
                          {"Meta-Llama-3.1-405B", "llama-3.1-405b"},
                          {"Llama-3.2-1B", "llama-3.2-1b"},
                          {"Llama-3.2-3B", "llama-3.2-3b"},
                          {"Llama-4-Scout-17B-16E-Instruct", "llama-4-scout"},
                          {"Llama-4-Maverick-17B-128E-Instruct", "llama-4-maverick"},
                          {"Mistral-7B-v0.1", "mistral-7b"},
                          {"Mixtral-8x7B-v0.1", "mixtral-8x7b"},
                          {"Mixtral-8x22B-v0.1", "mixtral-8x22b"},
                          {"DeepSeek-V2-Lite", "deepseek-v2-lite"},
                          {"DeepSeek-V2", "deepseek-v2"},
                          {"DeepSeek-V3", "deepseek-v3"},
                          {"DeepSeek-R1", "deepseek-r1"},
                          {"DeepSeek-V3.2", "deepseek-v3.2"},
                          {"Qwen2.5-7B-Instruct", "qwen2.5-7b"},
                          {"Qwen2.5-72B-Instruct", "qwen2.5-72b"},
                          {"Qwen3-8B", "qwen3-8b"},
                          {"Qwen3-32B", "qwen3-32b"},
                          {"Qwen3-30B-A3B", "qwen3-30b-a3b"},
                          {"Qwen3-235B-A22B", "qwen3-235b-a22b"},
                          {"gpt-oss-20b", "gpt-oss-20b"},
                          {"gpt-oss-120b", "gpt-oss-120b"},
                          {"Kimi-K2-Instruct", "kimi-k2"},
                          {"GLM-4.5", "glm-4.5"},
                          {"Qwen3-14B", "qwen3-14b"},
                          {"Qwen3-0.6B", "qwen3-0.6b"},
                          {"Qwen3-1.7B", "qwen3-1.7b"},
                          {"Qwen3-Coder-480B-A35B-Instruct", "qwen3-coder-480b-a35b"},
                          {"Yi-34B", "yi-34b"},
                          {"MiniMax-M2.5", "minimax-m2.5"},
                          {"MiniMax-M2.7", "minimax-m2.7"},
                          {"Qwen3.5-27B", "qwen3.5-27b"},
                          {"Qwen3.5-35B-A3B", "qwen3.5-35b-a3b"},
                          {"Qwen3.5-122B-A10B", "qwen3.5-122b-a10b"},
                          {"Qwen3.5-397B-A17B", "qwen3.5-397b-a17b"},
                          {"NVIDIA-Nemotron-3-Nano-30B-A3B-BF16", "nemotron-3-nano-30b-a3b"},
                          {"NVIDIA-Nemotron-3-Super-120B-A12B-FP8", "nemotron-3-super-120b-a12b"},
                          {"NVIDIA-Nemotron-3-Ultra-550B-A55B-BF16", "nemotron-3-ultra-550b-a55b"},
                          {"Nemotron-H-56B-Base-8K", "nemotron-h-56b"},
                          {"Llama-3_1-Nemotron-Ultra-253B-v1", "llama-3.1-nemotron-ultra-253b"},
                          {"Llama-3_3-Nemotron-Super-49B-v1", "llama-3.3-nemotron-super-49b"},
                          {"Kimi-K2.5", "kimi-k2.5"},
                          {"GLM-5", "glm-5"},
                          {"GLM-5.2", "glm-5.2"},
                          {"Qwen3-VL-8B-Instruct", "qwen3-vl-8b"},
                          {"Qwen3-VL-235B-A22B-Instruct", "qwen3-vl-235b-a22b"},
                          {"gemma-4-26B-A4B", "gemma-4-26b-a4b"},
                          {"MiMo-V2-Flash", "mimo-v2-flash"},
                          {"MiMo-7B-Base", "mimo-7b"},
                          {"Mistral-Nemo-Instruct-2407", "mistral-nemo-12b"},
                          {"CodeLlama-34b-Instruct-hf", "codellama-34b"}};

}  // namespace

TEST_CASE("a llama configuration becomes a model without notes") {
  const Imported i = import_text("{" + llama + "}");
  CHECK(i.problems.lines().empty());
  CHECK(i.result.notes.empty());
  CHECK(i.result.architecture.attention.head_dim == 16);
  CHECK(i.result.architecture.dense_layers == 2);
  CHECK_FALSE(i.result.architecture.tied_embeddings);
}

TEST_CASE("missing and malformed counts are all reported with their places") {
  const Imported i = import_text(R"({"model_type": "llama", "num_hidden_layers": 2.5, "hidden_size": "wide",
    "vocab_size": 1e300, "num_attention_heads": -1, "intermediate_size": 8, "torch_dtype": "bfloat16"})");
  REQUIRE(i.problems.lines().size() == 5);
  CHECK(i.problems.lines()[0].find("c.json:/num_hidden_layers: 2.5 is no integer") == 0);
  CHECK(i.problems.lines()[4].find("c.json:/max_position_embeddings: absent") == 0);
}

TEST_CASE("Python's infinities are read over") {
  CHECK(import_text("{" + llama + R"(, "limits": [0.0, Infinity, -Infinity, NaN], "text": "NaN \" Infinity"})")
            .problems.empty());
}

TEST_CASE("counts that no model file may hold are refused") {
  const Imported i = import_text(R"({"model_type": "llama", "num_hidden_layers": 1000000000, "hidden_size": 1000000000,
    "vocab_size": 1000000000, "num_attention_heads": 1000, "intermediate_size": 1000000000,
    "max_position_embeddings": 8, "torch_dtype": "bfloat16"})");
  CHECK(i.problems.lines().size() >= 4);
}

TEST_CASE("text that is no JSON object is refused") {
  for (const char* text : {"", "[1]", "{", "\xff\xfe", "version https://git-lfs.github.com/spec/v1"}) {
    CHECK(import_text(text).problems.lines().size() == 1);
  }
  CHECK(import_text("{}").problems.lines()[0].find("c.json:/model_type: absent") == 0);
  CHECK(import_text(std::string(100000, '[')).problems.lines().size() == 1);
}

TEST_CASE("malformed JSON is placed by line and column") {
  const Imported i = import_text("{\n  \"limit\": Infinity, \"heads\": }");
  REQUIRE(i.problems.lines().size() == 1);
  CHECK(i.problems.lines()[0].find("c.json:2:31: ") == 0);
}

TEST_CASE("unknown families are refused with the list of supported ones") {
  const Imported i = import_text(R"({"model_type": "mamba"})");
  REQUIRE(i.problems.lines().size() == 1);
  CHECK(i.problems.lines()[0].find("\"mamba\" is not supported; supported are deepseek_v2, ") != std::string::npos);
  const auto families = model::supported_hf_families();
  CHECK(std::is_sorted(families.begin(), families.end()));
}

TEST_CASE("known families that cannot be expressed are refused with the reason") {
  const Imported i = import_text(R"({"model_type": "deepseek_v4"})");
  REQUIRE(i.problems.lines().size() == 1);
  CHECK(i.problems.lines()[0].find("compresses the context") != std::string::npos);
}

TEST_CASE("what a family cannot express is refused with the key that states it") {
  const std::string gemma =
      R"("model_type": "gemma4_text", "num_hidden_layers": 2, "hidden_size": 64, "vocab_size": 100,
    "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16, "global_head_dim": 32, "intermediate_size": 96,
    "sliding_window": 8, "max_position_embeddings": 512, "layer_types": ["sliding_attention", "full_attention"],
    "torch_dtype": "bfloat16")";
  CHECK(import_text("{" + gemma + "}").problems.empty());
  const Imported shared = import_text("{" + gemma + R"(, "num_kv_shared_layers": 1})");
  REQUIRE(shared.problems.lines().size() == 1);
  CHECK(shared.problems.lines()[0] == "c.json:/num_kv_shared_layers: is not supported above 0");
}

TEST_CASE("blocks of a pattern keep their order") {
  const std::string pattern = R"("model_type": "nemotron_h", "hybrid_override_pattern": "M-M*E", "hidden_size": 64,
    "vocab_size": 100, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16, "intermediate_size": 96,
    "max_position_embeddings": 512, "mlp_hidden_act": "relu2", "mamba_num_heads": 8, "mamba_head_dim": 16,
    "n_groups": 2, "ssm_state_size": 32, "conv_kernel": 4, "mamba_ssm_cache_dtype": "float32", "n_routed_experts": 4,
    "num_experts_per_tok": 2, "moe_intermediate_size": 32, "moe_latent_size": 16, "n_shared_experts": 0,
    "torch_dtype": "bfloat16")";
  const Imported i = import_text("{" + pattern + "}");
  CHECK(i.problems.lines().empty());
  REQUIRE(i.result.architecture.blocks);
  CHECK(i.result.architecture.blocks->order == "M-M*E");
  CHECK(i.result.architecture.moe->latent == 16);
  CHECK_FALSE(i.result.architecture.gated_mlp);
}

TEST_CASE("layers that attend to an image take its tokens from the vision configuration") {
  const std::string text = R"({"model_type": "mllama_text_model", "cross_attention_layers": [1], )" +
                           llama.substr(llama.find(',') + 1) + "}";
  const Imported i = import_text(R"({"model_type": "mllama", "vision_config": {"image_size": 28, "patch_size": 14,
    "max_num_tiles": 4}, "text_config": )" +
                                 text + "}");
  CHECK(i.problems.lines().empty());
  CHECK(i.result.architecture.encoder_tokens == 4 * (2 * 2 + 1));
  CHECK(i.result.architecture.blocks->order == "ax");
  const Imported alone = import_text(text);
  REQUIRE(alone.problems.lines().size() >= 1);
  CHECK(alone.problems.lines()[0].find("vision_config") != std::string::npos);
}

TEST_CASE("a multimodal wrapper gives its text model and says what is left out") {
  const Imported i =
      import_text(R"({"model_type": "mistral3", "vision_config": {"a": 1}, "text_config": {)" + llama + "}}");
  CHECK(i.problems.lines().empty());
  REQUIRE(i.result.notes.size() == 2);
  CHECK(i.result.notes[0].find("vision_config") == 0);
}

TEST_CASE("block FP8 covers attention and MLP and leaves the LM head") {
  const Imported i = import_text(
      "{" + llama + R"(, "quantization_config": {"quant_method": "fp8", "weight_block_size": [128, 128]}})");
  const auto& f = i.result.architecture.formats;
  CHECK(f.attention == Format::Fp8Block);
  CHECK(f.mlp == Format::Fp8Block);
  CHECK(f.lm_head == Format::BFloat16);
  CHECK_FALSE(f.attention_output);
}

TEST_CASE("excluded modules keep 16 bits, and partly excluded classes are named") {
  const Imported i =
      import_text("{" + llama + R"(, "quantization_config": {"quant_method": "modelopt", "quant_algo": "NVFP4",
    "ignore": ["lm_head", "model.layers.0.self_attn*", "model.layers.1.self_attn*", "model.layers.0.mlp.up_proj"]}})");
  const auto& f = i.result.architecture.formats;
  CHECK(f.attention == Format::BFloat16);
  CHECK(f.mlp == Format::Nvfp4);
  REQUIRE(i.result.notes.size() == 1);
  CHECK(i.result.notes[0].find("dense MLP and shared experts: 5 of 6 matrices are nvfp4") == 0);
}

TEST_CASE("quantisation that is not understood is refused") {
  CHECK(import_text("{" + llama + R"(, "quantization_config": {"quant_method": "exotic"}})").problems.lines().size() ==
        1);
  CHECK(import_text("{" + llama + R"(, "quantization_config": {"quant_method": "gptq", "bits": 3, "group_size": 128}})")
            .problems.lines()
            .size() == 1);
}

TEST_CASE("every configuration at hand is either expressed or refused with a reason") {
  if (!std::filesystem::exists(data_folder())) {
    WARN("skipped: no " << data_folder().string());
    return;
  }
  int expressed = 0;
  int refused = 0;
  for (const auto& entry : std::filesystem::directory_iterator(data_folder())) {
    if (!std::filesystem::exists(entry.path() / "config.json")) continue;
    const Imported i = import_folder(entry.path());
    CAPTURE(entry.path().filename().string());
    if (i.problems.empty()) {
      ++expressed;
      const std::string text = model::model_file(i.result.architecture);
      const auto again = config::read<model::Architecture>(config::Document::from_text(text, "again.json"));
      CHECK(model::model_file(again) == text);
    } else {
      ++refused;
      CHECK(i.problems.lines()[0].find("not supported") != std::string::npos);
    }
  }
  CHECK(expressed + refused == 103);
  CHECK(expressed >= 80);
}

TEST_CASE("imported configurations of known models count exactly their parameters") {
  if (!std::filesystem::exists(data_folder())) {
    WARN("skipped: no " << data_folder().string());
    return;
  }
  for (const Pair& pair : pairs) {
    CAPTURE(pair.folder);
    const auto folder = data_folder() / pair.folder;
    if (!std::filesystem::exists(folder / "config.json")) continue;
    const Imported i = import_folder(folder);
    REQUIRE(i.problems.lines().empty());
    const auto facts = std::find_if(std::begin(model_facts), std::end(model_facts),
                                    [&](const ModelFacts& f) { return std::string(f.name) == pair.name; });
    REQUIRE(facts != std::end(model_facts));
    const model::Parameters n = model::count_parameters(i.result.architecture);
    CHECK(n.total == facts->total);
    CHECK(n.active == facts->active);
    CHECK(n.active_without_embedding == facts->active_without_embedding);
  }
}

TEST_CASE("mixed checkpoints get a format per tensor class") {
  if (!std::filesystem::exists(data_folder())) {
    WARN("skipped: no " << data_folder().string());
    return;
  }
  const auto v31 = import_folder(data_folder() / "DeepSeek-V3.1-NVFP4").result.architecture.formats;
  CHECK(v31.attention == Format::BFloat16);
  CHECK(v31.attention_output == Format::Nvfp4);
  CHECK(v31.experts == Format::Nvfp4);
  const auto minimax = import_folder(data_folder() / "MiniMax-M2.5-NVFP4").result.architecture.formats;
  CHECK(minimax.attention == Format::BFloat16);
  CHECK(minimax.experts == Format::Nvfp4);
  const auto kimi = import_folder(data_folder() / "Kimi-K2.5").result.architecture.formats;
  CHECK(kimi.attention == Format::BFloat16);
  CHECK(kimi.mlp == Format::BFloat16);
  CHECK(kimi.experts == Format::Int4Group32);
  const auto oss = import_folder(data_folder() / "gpt-oss-120b").result.architecture.formats;
  CHECK(oss.attention == Format::BFloat16);
  CHECK(oss.experts == Format::Mxfp4);
}
