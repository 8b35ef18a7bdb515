#include "report/csv.hpp"

#include "catch.hpp"
#include "core/error.hpp"
#include "core/random.hpp"
#include "metrics/request_log.hpp"
#include "metrics/timeline.hpp"
#include "report/output_folder.hpp"
#include "temporary_folder.hpp"

#include <sstream>
#include <vector>

using namespace servecast;
using namespace servecast::report;
using servecast::report::sample::TemporaryFolder;

namespace {

template <typename Write>
std::string written(Write write) {
  const TemporaryFolder tmp;
  OutputFile file((tmp.path() / "rows.csv").string());
  write(file);
  file.commit();
  return sample::content(tmp.path() / "rows.csv");
}

workload::Request request(std::uint32_t id, std::int64_t arrival_ps, std::int32_t prompt) {
  workload::Request r;
  r.id = {id};
  r.arrival = {arrival_ps};
  r.prompt_tokens = prompt;
  return r;
}

std::vector<std::vector<std::string>> parse(const std::string& text) {
  std::vector<std::vector<std::string>> rows;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    REQUIRE(line.back() == '\r');
    line.pop_back();
    std::vector<std::string> cells(1);
    for (const char c : line) {
      if (c == ',')
        cells.emplace_back();
      else
        cells.back() += c;
    }
    rows.push_back(cells);
  }
  return rows;
}

// Picoseconds of a decimal number of units of 10^digits picoseconds.
std::int64_t exact(const std::string& text, std::size_t digits) {
  const std::size_t dot = std::min(text.find('.'), text.size());
  std::string fraction = dot < text.size() ? text.substr(dot + 1) : "";
  fraction.resize(digits, '0');
  return std::stoll(text.substr(0, dot) + fraction);
}

}  // namespace

TEST_CASE("rows of a completed, an unfinished and a rejected request") {
  metrics::RequestLog log(metrics::RequestLog::Rows::Kept);
  log.arrived(request(0, 1'500'000'000'000, 700), 3);
  log.prefix_lookup({0}, 700, 64, false);
  log.first_token({0}, {1'750'000'000'000});
  log.preempted({0}, {1'800'000'000'000});
  log.finished({0}, {2'750'000'000'001}, 11);
  log.arrived(request(1, 1'600'000'000'000, 50), 0);
  log.arrived(request(2, 1'700'000'000'000, 99999), 1);
  log.rejected({2}, {1'700'000'000'000}, "too long");
  const std::string text = written([&](OutputFile& file) { write_requests_csv(file, log, core::milliseconds(2)); });
  CHECK(text ==
        "id,arrival_s,replica,prompt_tokens,cached_prompt_tokens,output_tokens,ttft_ms,tpot_ms,e2e_ms,preemptions,"
        "status\r\n"
        "0,1.5,3,700,64,11,252,100,1252.000000001,1,completed\r\n"
        "1,1.6,0,50,0,,,,,0,unfinished\r\n"
        "2,1.7,1,99999,0,,,,,0,rejected\r\n");
}

TEST_CASE("what is written reads back exactly") {
  metrics::RequestLog log(metrics::RequestLog::Rows::Kept);
  core::Random random(7, "test/rows");
  constexpr std::uint32_t n = 5000;
  std::int64_t now = 0;
  for (std::uint32_t i = 0; i < n; ++i) {
    now += static_cast<std::int64_t>(random.below(3'000'000'000'000));
    log.arrived(request(i, now, static_cast<std::int32_t>(1 + random.below(100000))), i % 7);
    const std::int64_t first = now + static_cast<std::int64_t>(random.below(9'000'000'000'000));
    log.first_token({i}, {first});
    log.finished({i}, {first + static_cast<std::int64_t>(random.below(90'000'000'000'000))},
                 static_cast<std::int32_t>(1 + random.below(1000)));
  }
  const auto rows = parse(written([&](OutputFile& file) { write_requests_csv(file, log, {}); }));
  REQUIRE(rows.size() == n + 1);
  for (std::uint32_t i = 0; i < n; ++i) {
    const metrics::Record& record = log.records()[i];
    const auto& row = rows[i + 1];
    REQUIRE(row.size() == 11);
    REQUIRE(row[0] == std::to_string(i));
    REQUIRE(exact(row[1], 12) == record.arrival.ps);
    REQUIRE(std::stoi(row[3]) == record.prompt_tokens);
    REQUIRE(std::stoi(row[5]) == record.output_tokens);
    REQUIRE(exact(row[6], 9) == (record.first_token - record.arrival).ps);
    REQUIRE(exact(row[8], 9) == (record.finish - record.arrival).ps);
    REQUIRE(row[7].empty() == (record.output_tokens == 1));
  }
}

TEST_CASE("the timeline has one row per sample and pool, names quoted where needed") {
  metrics::Timeline timeline({"prefill", "a \"b\", c"});
  const metrics::PoolSample pools[] = {{1, 2, 3, 4, 5, 60, 70, 80, 90}, {6, 7, 8, 9, 10}};
  timeline.add({500'000'000'000}, 16, pools);
  CHECK(written([&](OutputFile& file) { write_timeline_csv(file, timeline); }) ==
        "time_s,pool,waiting,running,blocks_used,blocks_cached,blocks_total,tokens_held,"
        "slots_reserved,slots_internal,slots_external,in_flight\r\n"
        "0.5,prefill,1,2,3,4,5,60,70,80,90,16\r\n"
        "0.5,\"a \"\"b\"\", c\",6,7,8,9,10,0,0,0,0,16\r\n");
}

TEST_CASE("the timeline of pools with tiers below the GPU says what those hold") {
  metrics::Timeline timeline({"serve"}, true);
  const metrics::PoolSample pools[] = {{1, 2, 3, 4, 5, 60, 70, 80, 90, 11, 12}};
  timeline.add({500'000'000'000}, 16, pools);
  CHECK(written([&](OutputFile& file) { write_timeline_csv(file, timeline); }) ==
        "time_s,pool,waiting,running,blocks_used,blocks_cached,blocks_total,tokens_held,"
        "slots_reserved,slots_internal,slots_external,in_flight,blocks_host,blocks_nvme\r\n"
        "0.5,serve,1,2,3,4,5,60,70,80,90,16,11,12\r\n");
}

TEST_CASE("text longer than the buffer passes whole") {
  const std::string big(200000, 'x');
  const std::string text = written([&](OutputFile& file) {
    CsvWriter csv(file);
    csv.text(big);
    csv.integer(-7);
    csv.fixed(-1'500, 3);
    csv.end_row();
    csv.finish();
  });
  CHECK(text == big + ",-7,-1.5\r\n");
}

TEST_CASE("rows without kept details are our own bug") {
  const metrics::RequestLog log;
  CHECK_THROWS_AS(written([&](OutputFile& file) { write_requests_csv(file, log, {}); }), core::LogicError);
}
