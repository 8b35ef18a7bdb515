#include "microbench/host/program.hpp"

#include "catch.hpp"
#include "folder.hpp"
#include "microbench/host/fake_device.hpp"

#include <sstream>

using namespace servecast;
using namespace servecast::microbench;

namespace {

struct Said {
  int code = 0;
  std::string out, err;
};

Said run(const std::vector<std::string>& arguments, const OpenDevice& open) {
  std::ostringstream out, err;
  Said s;
  s.code = run_program(arguments, open, Console{out, err, false});
  s.out = out.str(), s.err = err.str();
  return s;
}

OpenDevice fake(std::uint64_t seed = 1) {
  return [seed](std::int32_t) { return std::make_unique<FakeDevice>(seed); };
}

std::unique_ptr<Device> none(std::int32_t) { throw NoDevice("no CUDA device was found"); }

// Gets one product wrong and refuses another.
class Faulty : public FakeDevice {
 public:
  Faulty() : FakeDevice(1) {}
  Outcome measure(const Point& point, const Timing& timing) override {
    Outcome o = FakeDevice::measure(point, timing);
    const auto* g = std::get_if<Gemm>(&point);
    if (g != nullptr && g->m == 16) o.wrong = "element 3 is 1 instead of 2";
    if (g != nullptr && g->m == 64) o.refused = "no algorithm";
    return o;
  }
};

std::size_t lines(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace

TEST_CASE("mistakes on the command line end with 2 and are all named") {
  const Said s = run({"--only", "x", "--repeats", "no"}, fake());
  CHECK(s.code == 2);
  CHECK(lines(s.err) == 2);
  CHECK(s.out.empty());
}

TEST_CASE("without a GPU the program says so and ends with 5, but still lists and helps") {
  const Said s = run({"--quick"}, none);
  CHECK(s.code == 5);
  CHECK(s.err == "microbench: no CUDA device was found\n");
  CHECK(run({"--help"}, none).code == 0);
  const Said list = run({"--list"}, none);
  CHECK(list.code == 0);
  CHECK_THAT(list.out, Catch::Contains("gemm           -  matrix products"));
  CHECK_THAT(list.err, Catch::Contains("no CUDA device"));
}

TEST_CASE("the list says how many rows each family measures") {
  CHECK_THAT(run({"--list", "--quick"}, fake()).out, Catch::Contains("gemm         189  matrix products"));
}

TEST_CASE("a run that was interrupted continues where it was, and a finished one measures nothing") {
  const test::Folder folder("microbench_resume");
  const std::string name = "b200__microbench-1__gemm_perf.csv";
  const std::vector<std::string> arguments = {"--quick", "--only", "gemm", "--output", folder.path()};
  const Said first = run(arguments, fake());
  CHECK(first.code == 0);
  CHECK_THAT(first.err, Catch::Contains("189 rows measured, 0 were there"));
  CHECK(first.out == folder / name + "\n");
  const std::string whole = folder.read(name);
  folder.write(name, whole.substr(0, whole.size() / 3));
  CHECK(run(arguments, fake()).code == 0);
  CHECK(folder.read(name) == whole);
  CHECK_THAT(run(arguments, fake()).err, Catch::Contains("0 rows measured, 189 were there"));
}

TEST_CASE("a folder measured with another setting is refused before anything is measured") {
  const test::Folder folder("microbench_other");
  const std::vector<std::string> arguments = {"--quick", "--only", "gemm", "--output", folder.path()};
  CHECK(run(arguments, fake()).code == 0);
  auto cold = arguments;
  cold.insert(cold.end(), {"--l2", "cold"});
  const Said s = run(cold, fake());
  CHECK(s.code == 2);
  CHECK_THAT(s.err, Catch::Contains("measured with l2 \"warm\", this run has \"cold\""));
}

TEST_CASE("wrong results have no row, are named, and end with 4") {
  const test::Folder folder("microbench_wrong");
  const Said s = run({"--quick", "--only", "gemm", "--output", folder.path()},
                     [](std::int32_t) { return std::make_unique<Faulty>(); });
  CHECK(s.code == 4);
  CHECK_THAT(s.err, Catch::Contains("WRONG RESULT, row not written: bfloat16,16,1024,1024 (made_up): element 3 is 1"));
  CHECK_THAT(s.err, Catch::Contains("not measured: bfloat16,64,1024,1024: no algorithm"));
  CHECK_THAT(s.err, Catch::Contains("135 rows measured, 0 were there, 27 not possible, 27 wrong"));
  const std::string rows = folder.read("b200__microbench-1__gemm_perf.csv");
  CHECK(rows.find("bfloat16,16,") == std::string::npos);
  CHECK(lines(rows) == 136);
}

TEST_CASE("a folder that cannot be made ends with 1") {
  const test::Folder folder("microbench_disk");
  folder.write("file", "");
  CHECK(run({"--quick", "--output", folder / "file" + "/x"}, fake()).code == 1);
}
