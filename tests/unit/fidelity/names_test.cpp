#include "fidelity/names.hpp"

#include "catch.hpp"
#include "fidelity/rows.hpp"

using namespace servecast::fidelity;
using servecast::scenario::Engine;

TEST_CASE("a model's name loses its owner, its tuning and its number format") {
  CHECK(model_named("meta-llama/Llama-3.1-8B-Instruct").name == "llama-3.1-8b");
  CHECK(model_named("nvidia/Llama-3.1-8B-Instruct-FP8").name == "llama-3.1-8b");
  CHECK(model_named("Qwen/Qwen3-235B-A22B-FP8").name == "qwen3-235b-a22b");
  CHECK(model_named("Qwen3-235B-A22B-Instruct-2507").name == "qwen3-235b-a22b");
  CHECK(model_named("nvidia/Qwen3-32B-NVFP4").name == "qwen3-32b");
  CHECK(model_named("openai/GPT-OSS-120b").name == "gpt-oss-120b");
  CHECK(model_named("MiniMaxAI/MiniMax-M2.5").name == "minimax-m2.5");
  CHECK(model_named("llama2-70b-99.9").name == "llama-2-70b");
  CHECK(model_named("Llama-3.3-70B").name == "llama-3.1-70b");
}

TEST_CASE("a model without a document is refused, one that no document can describe by what it needs") {
  CHECK(model_named("acme/unheard-of-1b").refused == "unknown model");
  CHECK(model_named("deepseek-ai/DeepSeek-V4-Flash").refused == "attention over a compressed context is not modelled");
  CHECK(model_named("Qwen/Qwen3.5-397B-A17B").name == "qwen3.5-397b-a17b");
  CHECK(model_named("zhipuai/GLM-5").name == "glm-5");
  CHECK(model_named("moonshotai/Kimi-K2.5").name == "kimi-k2.5");
}

TEST_CASE("a GPU's name leads to its node, another memory does not") {
  CHECK(node_named("NVIDIA H100 SXM").name == "hgx-h100");
  CHECK(node_named("NVIDIA H100-SXM-80GB").name == "hgx-h100");
  CHECK(node_named("NVIDIA B200-SXM-180GB").name == "hgx-b200");
  CHECK(node_named("NVIDIA GB200").name == "gb200-nvl72");
  CHECK(node_named("NVIDIA H20-3e 143GB").refused == "unknown GPU");
  CHECK(node_named("NVIDIA H800 81GB").refused == "unknown GPU");
}

TEST_CASE("an engine's text holds its name and, perhaps, a version") {
  CHECK(engine_named("vllm 0.19.0").engine == Engine::Vllm);
  CHECK(engine_named("vllm 0.19.0").number == Version{0, 19});
  CHECK(engine_named("TensorRT-LLM >=1.1").number == Version{1, 1});
  CHECK(engine_named("trtllm").version.empty());
  CHECK(engine_named("sglang glm5-hopper").version.empty());
  CHECK(engine_named("TensorRT 10.2.0, CUDA 12.4").engine == Engine::Trtllm);
  CHECK(engine_named("TensorRT 10.2.0, CUDA 12.4").version.empty());
  CHECK_FALSE(engine_named("llama.cpp b3000").engine);
  CHECK(Version{0, 9} < Version{0, 15});
}

TEST_CASE("sizes of a deployment are read by key; None and 0 are 1") {
  const Sizes s = sizes_of("tp=4;pp=1;attn_dp=None;moe_tp=0;moe_ep=2");
  CHECK(s.tensor == 4);
  CHECK(s.data == 1);
  CHECK(s.expert_tensor == 1);
  CHECK(s.expert == 2);
  CHECK(sizes_of("").tensor == 0);
}
