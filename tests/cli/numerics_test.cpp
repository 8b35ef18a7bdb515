// `servecast numerics`: formats on distributions and on files, and what it refuses.
#include "catch.hpp"
#include "process.hpp"

#include <string>

using servecast::test::Outcome;
using servecast::test::Workspace;

namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

void refused(const Workspace& work, const std::string& arguments, const std::string& part) {
  const Outcome outcome = work.servecast("numerics formats " + arguments);
  INFO(arguments << ": " << outcome.err);
  CHECK(outcome.exit_code == 2);
  CHECK(outcome.out.empty());
  CHECK(contains(outcome.err, part));
}

std::string npy(const std::string& order) {
  const std::string header = "{'descr': '<f4', 'fortran_order': " + order + ", 'shape': (2, 1), }\n";
  std::string out = "\x93NUMPY\x01";
  out += '\0';
  out += static_cast<char>(header.size());
  out += '\0';
  return out + header + std::string("\0\0\x80\x3F\0\0\0\xC0", 8);
}

}  // namespace

TEST_CASE("numerics formats shows each format on each distribution, twice the same") {
  const Workspace work;
  const Outcome a = work.servecast("numerics formats --elements 65536");
  CHECK(a.exit_code == 0);
  for (const char* part : {"gaussian: 16 x 4,096", "laplace", "student-t:5", "gaussian, 1 % of columns x 20", "nvfp4",
                           "mxfp4", "fp8_block", "int4_g128", "SQNR dB", "flushed"})
    CHECK(contains(a.out, part));
  CHECK(work.servecast("numerics formats --elements 65536").out == a.out);
  CHECK(work.servecast("numerics formats --elements 65536 --seed 2").out != a.out);
}

TEST_CASE("numerics formats can be asked for one format and one distribution, as JSON") {
  const Workspace work;
  const Outcome json = work.servecast(
      "numerics formats --distribution student-t:3 --outliers 0.1:8 --format nvfp4 --elements 4096 --json");
  CHECK(json.exit_code == 0);
  CHECK(contains(json.out, "\"name\": \"student-t:3, 10 % of columns x 8\""));
  CHECK(contains(json.out, "\"format\": \"nvfp4\""));
  CHECK_FALSE(contains(json.out, "mxfp4"));
}

TEST_CASE("numerics formats reads a .npy file and raw values") {
  Workspace work;
  work.write("x.npy", npy("False"));
  work.write("x.bin", std::string("\0\0\x80\x3F\0\0\0\xC0", 8));
  const Outcome a = work.servecast("numerics formats --file x.npy --format fp16");
  INFO(a.err);
  CHECK(a.exit_code == 0);
  CHECK(contains(a.out, "x.npy: 2 x 1"));
  CHECK(contains(a.out, "exact"));
  CHECK(work.servecast("numerics formats --file x.bin --dtype float32 --shape 2,1").exit_code == 0);
  CHECK(work.servecast("numerics formats --file x.bin --dtype bfloat16 --shape 4").exit_code == 0);
}

TEST_CASE("numerics formats refuses what it does not understand") {
  Workspace work;
  work.write("f.npy", npy("True"));
  work.write("x.bin", "12345678");
  refused(work, "--distribution normal", "unknown distribution \"normal\"");
  refused(work, "--distribution student-t:0", "unknown distribution \"student-t:0\"");
  refused(work, "--outliers 0.5", "\"0.5\" is not SHARE:FACTOR");
  refused(work, "--outliers 2:3", "\"2:3\" is not SHARE:FACTOR");
  refused(work, "--format nvfp5", "did you mean \"nvfp4\"?");
  refused(work, "--file f.npy", "Fortran order");
  refused(work, "--file f.npy --dtype float32", "states its own");
  refused(work, "--file x.bin", "--dtype: a raw file needs it");
  refused(work, "--file x.bin --dtype float64 --shape 1", "unknown type \"float64\"");
  refused(work, "--file x.bin --dtype float32 --shape 1,x", "no list of positive whole numbers");
  refused(work, "--file x.bin --dtype float32 --shape 3", "3 elements of float32 need 12");
  refused(work, "--file x.bin --dtype float32 --shape 2 --elements 100", "--elements: has no meaning with --file");
  refused(work, "--shape 2", "--shape: has no meaning without --file");
  refused(work, "--elements 1", "--elements");
  CHECK(work.servecast("numerics formats --file missing.npy").exit_code == 1);
  CHECK(work.servecast("numerics").exit_code == 2);
}

TEST_CASE("the dynamic precision policy shows in fit, explain and results, with the memory and the speed") {
  const Workspace work;
  const std::string set = " --set '/pools/0/precision={\"policy\":\"dynamic\",\"attention\":\"fp8\"}'";
  const Outcome fit = work.servecast("fit quickstart" + set);
  INFO(fit.err);
  CHECK(fit.exit_code == 0);
  for (const char* part :
       {"Precision (dynamic, at least 18 dB; values: assumed profile)", "nvfp4", "as chosen", "all bf16"})
    CHECK(contains(fit.out, part));
  const Outcome explain = work.servecast("explain quickstart --decode 64" + set);
  CHECK(explain.exit_code == 0);
  for (const char* part : {"mlp down nvfp4", "mlp down fp8", "decode step"}) CHECK(contains(explain.out, part));
  CHECK(contains(explain.err, "assumed profile"));
  const Outcome run = work.servecast("run quickstart --json --set /workload/requests=50" + set);
  CHECK(run.exit_code == 0);
  for (const char* part : {"\"precision\": {", "\"quality_floor_db\": 18", "\"assumed\": true", "\"decode_step_us\"",
                           "formats by block rest on an assumed profile"})
    CHECK(contains(run.out, part));
  CHECK_FALSE(contains(work.servecast("run quickstart --json --set /workload/requests=50").out, "\"precision\""));
}
