#include "catch.hpp"
#include "trace_files.hpp"
#include "workload/servecast_trace.hpp"
#include "workload/trace_summary.hpp"

#include <sstream>

using namespace servecast;
using namespace servecast::workload;

namespace {

const std::string azure_2023 =
    "TIMESTAMP,ContextTokens,GeneratedTokens\r\n"
    "2023-11-16 18:17:03.9799600,4808,10\r\n"
    "2023-11-16 18:17:04.0319600,3180,8";

}  // namespace

TEST_CASE("azure 2023 has carriage returns, seven fraction digits and no final newline") {
  const TraceFile file(azure_2023);
  const auto records = read_all(file.path());
  REQUIRE(records.size() == 2);
  CHECK(records[0].arrival_ns == 0);
  CHECK(records[1].arrival_ns == 52000000);
  CHECK(records[1].line == 3);
  CHECK(records[0].input_tokens == 4808);
  CHECK(records[1].output_tokens == 8);
}

TEST_CASE("azure 2024 mixes times with and without a fraction") {
  const TraceFile file(
      "TIMESTAMP,ContextTokens,GeneratedTokens\n2024-05-10 23:59:59.999999+00:00,1,2\n2024-05-11 00:00:00+00:00,3,4\n");
  const auto records = read_all(file.path());
  REQUIRE(records.size() == 2);
  CHECK(records[1].arrival_ns == 1000);
}

TEST_CASE("the multimodal azure trace has an extra column, of which a note speaks") {
  const TraceFile file(
      "TIMESTAMP,NumImages,ContextTokens,GeneratedTokens\n2024-10-15T12:00:00.269Z,0,770,491\n"
      "2024-10-15T12:00:05.819Z,1,949,126\n");
  const TraceSummary s = summarise_trace(file.path());
  CHECK(s.format == TraceFormat::Azure);
  CHECK(s.input.total == 1719);
  CHECK(s.span_s == Approx(5.55));
  REQUIRE(s.notes.size() == 1);
  CHECK(s.notes[0].find("NumImages") == 0);
}

TEST_CASE("burstgpt failures are skipped and counted, and its third file has more columns") {
  const TraceFile first(
      "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n5,ChatGPT,472,18,490,Conversation log\n"
      "45,ChatGPT,1087,0,1087,Conversation log\n118,GPT-4,0,0,0,API log\n");
  const TraceSummary s = summarise_trace(first.path());
  CHECK(s.rows == 3);
  CHECK(s.requests == 1);
  CHECK(s.skipped.at("no output tokens (a failed request)") == 2);

  const TraceFile third(
      "Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens,Total tokens,Log Type\n"
      "19440110.0,1722ac82,43,GPT-4,906,446,1352,Conversation log\n19440161.5,d5983bf9,2,ChatGPT,36,29,65,Conversation "
      "log\n");
  const auto records = read_all(third.path());
  REQUIRE(records.size() == 2);
  CHECK(records[1].arrival_ns == 51500000000);
  CHECK(records[1].input_tokens == 36);
}

TEST_CASE("mooncake counts milliseconds, bailian seconds") {
  const TraceFile mooncake(
      "{\"timestamp\": 27000, \"input_length\": 600, \"output_length\": 5, \"hash_ids\": [7, 8]}\n"
      "{\"timestamp\": 30000, \"input_length\": 512, \"output_length\": 6, \"hash_ids\": [7]}\n");
  Trace trace(mooncake.path());
  CHECK(trace.format() == TraceFormat::Mooncake);
  CHECK(trace.block_tokens() == 512);
  const auto records = read_all(mooncake.path());
  CHECK(records[1].arrival_ns == 3000000000);
  CHECK(records[0].prefix == std::vector<std::uint64_t>{7, 8});

  const TraceFile bailian(
      "{\"chat_id\": 0, \"parent_chat_id\": -1, \"timestamp\": 0.0, \"input_length\": 20, \"output_length\": 9, "
      "\"type\": \"text\", \"turn\": 1, \"hash_ids\": [0, 1]}\n"
      "{\"chat_id\": 1, \"parent_chat_id\": -1, \"timestamp\": 0.25, \"input_length\": 20, \"output_length\": 9, "
      "\"type\": \"text\", \"turn\": 1, \"hash_ids\": [0, 2]}\n");
  const TraceSummary s = summarise_trace(bailian.path());
  CHECK(s.format == TraceFormat::Bailian);
  CHECK(s.block_tokens == 16);
  CHECK(s.span_s == Approx(0.25));
  CHECK(s.prefix_blocks == 4);
  CHECK(s.prefix_hits == 1);
}

TEST_CASE("splitwise rows are read by their columns") {
  const TraceFile file(
      "request_id,request_type,application_id,arrival_timestamp,batch_size,prompt_size,token_size\n0,2,0,1,1,4096,32\n"
      "1,2,0,3,1,2048,8\n");
  const auto records = read_all(file.path());
  REQUIRE(records.size() == 2);
  CHECK(records[1].arrival_ns == 2000000000);
  CHECK(records[0].output_tokens == 32);
}

TEST_CASE("what the servecast writer writes is read back the same") {
  std::ostringstream text;
  TraceWriter writer(text, 32);
  TraceRecord a{0, 0, 100, 7, no_session, {1, 18446744073709551615u}};
  TraceRecord b{0, 123456789012345678, 2147483647, 1, 42, {}};
  writer.write(a);
  writer.write(b);
  const TraceFile file(text.str());
  Trace trace(file.path());
  CHECK(trace.block_tokens() == 32);
  TraceRecord got;
  REQUIRE(trace.next(got));
  CHECK(got.prefix == a.prefix);
  CHECK(got.session == no_session);
  REQUIRE(trace.next(got));
  CHECK(got.arrival_ns == 123456789012345678);
  CHECK(got.input_tokens == 2147483647);
  CHECK(got.session == 42);
  CHECK(got.prefix.empty());
  CHECK_FALSE(trace.next(got));
}

TEST_CASE("a servecast trace without header has blocks of 16 tokens") {
  const TraceFile file("{\"arrival_s\": 1.5, \"input_tokens\": 3, \"output_tokens\": 1}\n");
  Trace trace(file.path());
  CHECK(trace.format() == TraceFormat::Servecast);
  CHECK(trace.block_tokens() == 16);
  CHECK(read_all(file.path()).size() == 1);
}

TEST_CASE("gzip and xz files are read as they are, whatever their name") {
  const TraceFile gz(bytes(gzip_of_two_rows), ".csv");
  CHECK(read_all(gz.path()).size() == 2);
  const TraceFile xz(bytes(xz_of_two_rows), ".csv.xz");
  CHECK(read_all(xz.path()).size() == 2);
}

TEST_CASE("the summary of four known requests") {
  const TraceFile file(
      "{\"timestamp\":0,\"input_length\":1024,\"output_length\":1,\"hash_ids\":[1,2]}\n"
      "{\"timestamp\":1000,\"input_length\":1024,\"output_length\":2,\"hash_ids\":[1,3]}\n"
      "{\"timestamp\":2000,\"input_length\":1024,\"output_length\":3,\"hash_ids\":[9,2]}\n"
      "{\"timestamp\":63000,\"input_length\":512,\"output_length\":4,\"hash_ids\":[9]}\n");
  const TraceSummary s = summarise_trace(file.path());
  CHECK(s.requests == 4);
  CHECK(s.span_s == 63);
  CHECK(s.mean_rate_per_s == Approx(3.0 / 63));
  // Gaps 1, 1, 61 s: mean 21, deviation sqrt((400 + 400 + 1600) / 3).
  CHECK(s.gap_cv == Approx(std::sqrt(800.0) / 21));
  CHECK(s.peak_minute_requests_per_s.value() == Approx(3.0 / 60));
  CHECK(s.irregular.empty());
  CHECK(s.output.p50 == 2.5);
  CHECK(s.output.p90 == Approx(3.7));
  CHECK(s.output.p99 == Approx(3.97));
  CHECK(s.output.max == 4);
  CHECK(s.input.total == 3584);
  CHECK(s.prefix_blocks == 7);
  CHECK(s.prefix_hits == 2);  // [1] of the second, [9] of the last; 2 after the unseen 9 is no hit
}

TEST_CASE("a trace shorter than a minute has no busiest minute") {
  const TraceFile file(
      "{\"timestamp\":0,\"input_length\":512,\"output_length\":1,\"hash_ids\":[1]}\n"
      "{\"timestamp\":1000,\"input_length\":512,\"output_length\":2,\"hash_ids\":[1]}\n");
  const TraceSummary s = summarise_trace(file.path());
  CHECK(s.mean_rate_per_s == 1);
  CHECK_FALSE(s.peak_minute_requests_per_s);
}

TEST_CASE("rows whose hash_ids do not match their prompt are taken and counted") {
  const TraceFile file(
      "{\"timestamp\":0,\"input_length\":1024,\"output_length\":1,\"hash_ids\":[1]}\n"
      "{\"timestamp\":1,\"input_length\":513,\"output_length\":2,\"hash_ids\":[1,3]}\n"
      "{\"timestamp\":2,\"input_length\":512,\"output_length\":3,\"hash_ids\":[9,2]}\n"
      "{\"timestamp\":3,\"input_length\":512,\"output_length\":4}\n");
  const TraceSummary s = summarise_trace(file.path());
  CHECK(s.requests == 4);
  CHECK(s.irregular ==
        std::map<std::string, std::uint64_t>{{"fewer hash_ids than blocks of the prompt; its end shares nothing", 1},
                                             {"more hash_ids than blocks of the prompt; the rest is left out", 1},
                                             {"no hash_ids; the prompt shares nothing", 1}});
}

TEST_CASE("the published traces have their exact totals") {
  struct Known {
    const char* name;
    std::uint64_t rows;
    std::int64_t input;
    std::int64_t output;
    std::uint64_t hits;
    std::uint64_t blocks;
  };
  for (const Known& known : {Known{"azure/AzureLLMInferenceTrace_code.csv", 8819, 18059974, 245896, 0, 0},
                             Known{"azure/AzureLLMInferenceTrace_conv.csv", 19366, 22361870, 4088665, 0, 0},
                             Known{"mooncake/conversation_trace.jsonl", 12031, 144793823, 4122048, 105710, 288500}}) {
    const auto path = shared_trace(known.name);
    if (!path) {
      WARN("skipped: " << known.name << " is not here; set SERVECAST_DATA");
      continue;
    }
    const TraceSummary s = summarise_trace(*path);
    CHECK(s.rows == known.rows);
    CHECK(s.requests == known.rows);
    CHECK(s.input.total == known.input);
    CHECK(s.output.total == known.output);
    CHECK(s.prefix_hits == known.hits);
    CHECK(s.prefix_blocks == known.blocks);
  }
}

TEST_CASE("every published sample is recognised and read") {
  struct Sample {
    const char* name;
    TraceFormat format;
    std::size_t rows;
  };
  for (const Sample& sample :
       {Sample{"azure2024/AzureLLMInferenceTrace_code_1week.HEAD_TAIL.csv", TraceFormat::Azure, 10},
        Sample{"azure2024/AzureLLMInferenceTrace_conv_1week.HEAD_TAIL.csv", TraceFormat::Azure, 10},
        Sample{"azure_multimodal2025/AzureLMMInferenceTrace_multimodal.HEAD_TAIL.csv", TraceFormat::Azure, 10},
        Sample{"burstgpt/BurstGPT_1.HEAD.csv", TraceFormat::Burstgpt, 3},
        Sample{"burstgpt/BurstGPT_3.HEAD.csv", TraceFormat::Burstgpt, 4},
        Sample{"mooncake/arxiv_or_toolagent_slice.TRANSCRIBED.jsonl", TraceFormat::Mooncake, 29},
        Sample{"qwen_bailian/qwen_thinking_blksz_16.FIRST_ROW.jsonl", TraceFormat::Bailian, 1},
        Sample{"splitwise/test_trace.csv", TraceFormat::Splitwise, 3}}) {
    const auto path = shared_trace(sample.name);
    if (!path) {
      WARN("skipped: " << sample.name << " is not here; set SERVECAST_DATA");
      continue;
    }
    CAPTURE(sample.name);
    CHECK(Trace(*path).format() == sample.format);
    CHECK(read_all(*path).size() == sample.rows);
  }
}
