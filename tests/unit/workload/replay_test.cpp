#include "catch.hpp"
#include "source_samples.hpp"
#include "trace_files.hpp"

#include <fmt/format.h>

using namespace servecast;
using namespace servecast::workload;

TEST_CASE("a trace is replayed exactly, faster by its rate_scale") {
  const TraceFile file(
      "{\"timestamp\":1000,\"input_length\":600,\"output_length\":5,\"hash_ids\":[7,8]}\n"
      "{\"timestamp\":1500,\"input_length\":100,\"output_length\":0,\"hash_ids\":[9]}\n"
      "{\"timestamp\":4000,\"input_length\":1024,\"output_length\":6,\"hash_ids\":[7,9]}\n");
  WorkloadConfig c;
  c.trace = file.path();
  SourceReport report;
  const auto source = make_source(c, 1, {}, report);
  const auto requests = drain(*source);
  REQUIRE(requests.size() == 2);
  CHECK(requests[0].arrival == core::Time{});
  CHECK(requests[1].arrival == core::Time{} + core::seconds(3));
  CHECK(requests[1].id.value == 1);
  CHECK(report.trace_rows == 3);
  CHECK(report.skipped.size() == 1);
  REQUIRE(requests[0].content.pieces.size() == 2);
  CHECK(requests[0].content.pieces[0].end == 512);
  CHECK(requests[0].content.pieces[1].end == 600);
  CHECK(requests[1].content.pieces[1].end == 1024);
  CHECK(requests[0].content.pieces[0].chain == requests[1].content.pieces[0].chain);
  CHECK(requests[0].content.pieces[1].chain != requests[1].content.pieces[1].chain);
  c.rate_scale = 2;
  CHECK(drain(c)[1].arrival == core::Time{} + core::seconds(1.5));
  c.limit = 2;
  CHECK(drain(c).size() == 1);
}

TEST_CASE("a trace request that does not fit is named by its line") {
  const TraceFile file(
      "{\"timestamp\":0,\"input_length\":600,\"output_length\":5}\n{\"timestamp\":0,\"input_length\":900,\"output_"
      "length\":200}\n");
  WorkloadConfig c;
  c.trace = file.path();
  CHECK(refusal(c, {1000}) ==
        std::vector<std::string>{file.path() + ":2: 900 input and 200 output tokens exceed "
                                               "max_model_len 1000; raise max_model_len or set overlong to "
                                               "truncate or reject"});
  c.overlong = Overlong::Reject;
  CHECK(drain(c, 1, {1000}).size() == 1);
}

TEST_CASE("a trace longer than the longest run is refused with the way out") {
  const TraceFile file(
      "{\"arrival_s\":0,\"input_tokens\":6,\"output_tokens\":5}\n{\"arrival_s\":9300000,\"input_tokens\":9,\"output_"
      "tokens\":2}\n");
  WorkloadConfig c;
  c.trace = file.path();
  REQUIRE(refusal(c).size() == 1);
  CHECK(refusal(c)[0].find(file.path() +
                           ":2: the request arrives 9300000 s after the first, and the longest run is 4000000 s") == 0);
  c.rate_scale = 4;
  CHECK(drain(c).size() == 2);
}

TEST_CASE("ticks are spread uniformly, in the order of the file and within the tick") {
  std::string text;
  for (int tick = 0; tick < 200; ++tick) {
    for (int i = 0; i < 10; ++i) {
      text +=
          fmt::format("{{\"timestamp\":{},\"input_length\":{},\"output_length\":1}}\n", tick * 3000, tick * 10 + i + 1);
    }
  }
  const TraceFile file(text);
  WorkloadConfig c;
  c.trace = file.path();
  c.spread_ticks = true;
  const auto requests = drain(c);
  REQUIRE(requests.size() == 2000);
  double sum = 0;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    REQUIRE(requests[i].prompt_tokens == static_cast<std::int32_t>(i + 1));
    const double offset = core::to_seconds(requests[i].arrival) - 3.0 * static_cast<double>(i / 10);
    REQUIRE(offset >= 0);
    REQUIRE(offset < 3);
    if (i > 0) REQUIRE(requests[i].arrival >= requests[i - 1].arrival);
    sum += offset;
  }
  CHECK(sum / 2000 == Approx(1.5).epsilon(0.05));
}
