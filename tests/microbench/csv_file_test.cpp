#include "microbench/host/csv_file.hpp"

#include "catch.hpp"
#include "folder.hpp"
#include "microbench/host/tables.hpp"

#include <fmt/ranges.h>

using namespace servecast;
using namespace servecast::microbench;

namespace {

const Origin origin = {"gpu", "driver", "warm"};
const std::string header = fmt::format("{}", fmt::join(columns(TableId::Gemm), ",")) + "\n";

std::string line(const std::string& key, const std::string& device = "gpu") {
  return "x," + key + ",5,9,0.01," + device + ",driver,warm,,,";
}

CsvFile opened(const test::Folder& folder, core::Problems& problems) {
  return CsvFile(folder / "t.csv", columns(TableId::Gemm), origin, problems);
}

}  // namespace

TEST_CASE("a table cut off anywhere is repaired, keeps its whole rows and ends as if never interrupted") {
  const std::string first = line("bfloat16,1,128,128"), second = line("bfloat16,2,128,128");
  const std::string whole = header + first + "\n" + second + "\n";
  for (std::size_t cut = 0; cut <= whole.size(); ++cut) {
    const test::Folder folder("microbench_torn");
    folder.write("t.csv", whole.substr(0, cut));
    core::Problems problems;
    CsvFile file = opened(folder, problems);
    REQUIRE(problems.empty());
    CHECK(file.rows() == (cut >= whole.size() ? 2U : cut >= header.size() + first.size() + 1 ? 1U : 0U));
    if (!file.has("bfloat16,1,128,128")) file.append("bfloat16,1,128,128", first);
    if (!file.has("bfloat16,2,128,128")) file.append("bfloat16,2,128,128", second);
    CHECK(folder.read("t.csv") == whole);
  }
}

TEST_CASE("a file that nothing is added to is not touched, and none is made") {
  const test::Folder folder("microbench_untouched");
  folder.write("t.csv", header + "x,bfloat16,1,128");
  core::Problems problems;
  opened(folder, problems);
  CHECK(folder.read("t.csv") == header + "x,bfloat16,1,128");
  CsvFile(folder / "u.csv", columns(TableId::Gemm), origin, problems);
  CHECK(!std::filesystem::exists(folder / "u.csv"));
}

TEST_CASE("files of another device, header or shape are refused") {
  const auto problem = [](const std::string& text) {
    const test::Folder folder("microbench_refused");
    folder.write("t.csv", text);
    core::Problems problems;
    opened(folder, problems);
    REQUIRE(problems.lines().size() == 1);
    CHECK(folder.read("t.csv") == text);
    return problems.lines()[0];
  };
  CHECK_THAT(problem(header + line("bfloat16,1,128,128", "other") + "\n"),
             Catch::Contains("t.csv:2: measured with device \"other\", this run has \"gpu\""));
  CHECK_THAT(problem("a,b\n1,2\n"), Catch::Contains("t.csv:1: another header than this version's"));
  CHECK_THAT(problem("my notes"), Catch::Contains("is no table of this program"));
  CHECK_THAT(problem(header + "x,bfloat16\n"), Catch::Contains("t.csv:2: 2 fields instead of 14"));
}
