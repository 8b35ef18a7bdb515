#include "cost/attention.hpp"

#include "catch.hpp"
#include "samples.hpp"

#include <algorithm>

using namespace servecast;
using namespace servecast::cost;

TEST_CASE("a chunk's pairs are counted query by query") {
  const auto slow = [](std::int64_t from, std::int64_t to, Window window, std::int64_t size) {
    std::int64_t pairs = 0;
    for (std::int64_t i = from; i < to; ++i) {
      if (window == Window::None) pairs += i + 1;
      if (window == Window::Sliding) pairs += std::min(i + 1, size);
      if (window == Window::Chunked) pairs += i % size + 1;
    }
    return pairs;
  };
  for (const Window window : {Window::None, Window::Sliding, Window::Chunked}) {
    for (const int from : {0, 1, 5, 8, 17, 64}) {
      for (const int to : {from + 1, from + 7, from + 8, from + 100}) {
        CHECK(chunk_work(from, to, window, 8).pairs == slow(from, to, window, 8));
      }
    }
  }
  CHECK(chunk_work(100, 110, Window::None, 0).keys == 110);
  CHECK(chunk_work(100, 110, Window::Sliding, 8).keys == 17);
}

// SPEC 3.1: core 4 * n_h * d FLOPs per pair, KV 2 * n_kv * d bytes per token; SPEC 1.2: 327,680 bytes in BF16.
TEST_CASE("decode attention of Llama-70B reads 327,680 bytes and does 2.6 MFLOP per context token") {
  const model::Architecture a = samples::llama_70b();
  const hardware::Gpu gpu = samples::b200();
  StepModelInput in = samples::input(a, gpu);
  in.precision.kv_cache = precision::Format::BFloat16;
  const DecodeClass c = StepModel(in).attention().decode[0];
  CHECK(c.bytes_per_context == 327680);
  CHECK(c.flops_per_context == 4.0 * 64 * 128 * 80);
  CHECK(c.at(2, 1000).bytes == 327680.0 * 1000 + 2 * 80 * 2.0 * 64 * 128 * 2);
}

TEST_CASE("KV heads are replicated, not cut, beyond their number of ranks") {
  const model::Architecture a = samples::llama_70b();
  const hardware::Gpu gpu = samples::b200();
  const DecodeClass eight = StepModel(samples::input(a, gpu, 8)).attention().decode[0];
  const DecodeClass sixteen = StepModel(samples::input(a, gpu, 16)).attention().decode[0];
  CHECK(eight.bytes_per_context == sixteen.bytes_per_context);
  CHECK(sixteen.flops_per_context == eight.flops_per_context / 2);
}

// SPEC 3.2: 2 * 128 * 1088 FLOPs on 576 cached elements: 241.8 FLOP per byte in BF16.
TEST_CASE("absorbed latent attention of DeepSeek-V3 has 241.8 FLOP per byte") {
  const model::Architecture a = samples::deepseek_v3();
  const hardware::Gpu gpu = samples::b200();
  StepModelInput in = samples::input(a, gpu);
  in.precision.kv_cache = precision::Format::BFloat16;
  const DecodeClass c = StepModel(in).attention().decode[0];
  CHECK(c.bytes_per_context == 61 * 576 * 2);
  CHECK(c.flops_per_context / c.bytes_per_context == Approx(241.8).epsilon(0.001));
}

TEST_CASE("latent prefill expands keys and values for long chunks and absorbs for short ones") {
  const model::Architecture a = samples::deepseek_v3();
  const hardware::Gpu gpu = samples::b200();
  const StepModelInput in = samples::input(a, gpu);
  const StepModel m(in);
  const std::vector<ChunkForm>& forms = m.attention().prefill[0].forms;
  REQUIRE(forms.size() == 2);
  const auto expanded_wins = [&](int from, int to) {
    const ChunkWork w = chunk_work(from, to, Window::None, 0);
    return std::max(forms[0].compute.at(w), forms[0].memory.at(w)) <
           std::max(forms[1].compute.at(w), forms[1].memory.at(w));
  };
  CHECK(expanded_wins(0, 8192));
  CHECK(expanded_wins(8192, 12288));
  CHECK_FALSE(expanded_wins(32000, 32016));
}

TEST_CASE("sparse attention reads its selection and lets the indexer see everything") {
  const model::Architecture a = samples::deepseek_v3(true);
  const hardware::Gpu gpu = samples::b200();
  const StepModelInput in = samples::input(a, gpu);
  const AttentionModel m = StepModel(in).attention();
  CHECK(m.window == 2048);
  CHECK(m.decode[0].bytes_per_context == 8052);  // SPEC 1.2
  CHECK(m.decode[1].bytes_per_context == 40016);
}

TEST_CASE("prefill attention grows with both ends of a chunk") {
  const hardware::Gpu gpu = samples::b200();
  for (const model::Architecture& a :
       {samples::llama_70b(), samples::gpt_oss_120b(), samples::deepseek_v3(), samples::deepseek_v3(true)}) {
    const StepModelInput in = samples::input(a, gpu);
    const StepModel m(in);
    for (int from = 0; from < 20000; from += 333) {
      double last = 0;
      for (int to = from + 1; to < from + 9000; to += 97) {
        REQUIRE(m.chunk_s(from, to) >= last);
        last = m.chunk_s(from, to);
      }
    }
  }
}
