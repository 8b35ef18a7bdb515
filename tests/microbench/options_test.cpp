#include "microbench/host/options.hpp"

#include "catch.hpp"

using namespace servecast;
using namespace servecast::microbench;

TEST_CASE("options are read, with and without an equals sign") {
  core::Problems problems;
  const Options o = parse_options({"--only", "moe,gemm,moe", "--quick", "--output=out", "--device", "3", "--l2=cold",
                                   "--repeats", "21", "--gpu", "b200", "--stack", "mine-1.0"},
                                  problems);
  CHECK(problems.empty());
  CHECK(o.only == std::vector<FamilyId>{FamilyId::Gemm, FamilyId::Moe});
  CHECK((o.quick && o.cold && !o.list && !o.help));
  CHECK(o.output == "out");
  CHECK(o.device == 3);
  CHECK(o.repeats == 21);
  CHECK(o.gpu == "b200");
  CHECK(o.stack == "mine-1.0");
}

TEST_CASE("every mistake of a command line is reported") {
  core::Problems problems;
  parse_options({"--only", "gemm,jemm", "--repeats", "0", "--l2", "hot", "--gpu", "B200", "--fast", "--device"},
                problems);
  CHECK(problems.lines() ==
        std::vector<std::string>{"--only: \"jemm\" is no family; see --list",
                                 "--repeats: \"0\" is no whole number from 1 to 999",
                                 "--l2: \"hot\" is neither warm nor cold",
                                 "--gpu: \"B200\" must be lower-case letters, digits, dots and dashes",
                                 "--fast: unknown option; see --help", "--device: needs a value"});
}

TEST_CASE("a value that looks like an option is a missing value") {
  core::Problems problems;
  const Options o = parse_options({"--output", "--quick"}, problems);
  CHECK(problems.lines() == std::vector<std::string>{"--output: needs a value"});
  CHECK(o.quick);
}
