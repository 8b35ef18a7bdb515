// From a measurement to a forecast: tables of a made-up device, the profile fitted to them, a stack that uses it, a
// run.
#include "catch.hpp"
#include "folder.hpp"
#include "microbench/host/fake_device.hpp"
#include "microbench/host/program.hpp"

#include <cstdlib>
#include <sstream>

using namespace servecast;
using namespace servecast::microbench;

namespace {

// Exit code of the binary; what it said is in out.txt and err.txt of the folder.
int servecast_says(const test::Folder& folder, const std::string& arguments) {
  const std::string command = "cd '" + folder.path() + "' && " SERVECAST_BINARY " " + arguments + " >out.txt 2>err.txt";
  const int status = std::system(command.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void measure(const test::Folder& folder) {
  std::ostringstream out, err;
  const int code = run_program(
      {"--quick", "--output", folder / "tables"}, [](std::int32_t) { return std::make_unique<FakeDevice>(1); },
      Console{out, err, false});
  REQUIRE(code == 0);
}

const std::string tables = R"("kernel_tables": {
    "gemm": [{"stacks": ["./mine"]}], "decode": [{"stacks": ["./mine"]}], "prefill": [{"stacks": ["./mine"]}],
    "moe": [{"stacks": ["./mine"]}], "all_reduce": [{"stacks": ["./mine"]}]})";

// The stack of a built-in engine with the fitted profile in place of its kernel tables.
std::string stack_document(const std::string& text) {
  const std::size_t from = text.find("\"kernel_tables\""), end = text.find("\n  },", from);
  REQUIRE(end != std::string::npos);
  return text.substr(0, from) + tables + text.substr(end + 4);
}

const std::string scenario = R"({ "extends": "quickstart", "pools": [ { "name": "serve", "replicas": 4,
  "stack": "stack.json", "parallel": { "tensor": 2 },
  "precision": { "weights": "nvfp4", "activations": "nvfp4", "kv_cache": "fp8" },
  "engine": { "max_num_seqs": 256, "max_num_batched_tokens": 8192, "max_model_len": 16384 } } ],
  "workload": { "requests": 200 } })";

}  // namespace

TEST_CASE("tables of a device become a profile, a stack and a run") {
  const test::Folder folder("microbench_pipeline");
  measure(folder);
  REQUIRE(servecast_says(folder, "calibrate fit tables/*.csv -o mine --quick") == 0);
  const std::string fit = folder.read("out.txt"), warnings = folder.read("err.txt");
  CHECK_THAT(fit, Catch::Contains("gemm nvfp4"));
  CHECK_THAT(fit, Catch::Contains("hbm_read"));
  CHECK(warnings.find("not known") == std::string::npos);
  CHECK_THAT(warnings, Catch::Contains("a prefix before several tokens"));
  std::ifstream source(SERVECAST_SOURCE_DIR "/hardware_profiles/stacks/vllm-0.24/stack.json");
  std::ostringstream text;
  text << source.rdbuf();
  folder.write("stack.json", stack_document(text.str()));
  folder.write("s.json", scenario);
  REQUIRE(servecast_says(folder, "run s.json --json --out result") == 0);
  const std::string result = folder.read("out.txt");
  CHECK_THAT(result, Catch::Contains("\"completed\": 200"));
  CHECK_THAT(result, Catch::Contains("\"kernels/mine\": \""));
  CHECK(folder.read("err.txt").find("no kernel profile") == std::string::npos);

  // The resolved document works from anywhere and says the same.
  REQUIRE(servecast_says(folder, "run result/resolved.json --json") == 0);
  const auto numbers = [](const std::string& json) { return json.substr(0, json.find("\"inputs\"")); };
  CHECK(numbers(folder.read("out.txt")) == numbers(result));

  // A folder that is not there is refused by name.
  std::filesystem::remove_all(folder / "mine");
  CHECK(servecast_says(folder, "run s.json") == 2);
  CHECK_THAT(folder.read("err.txt"), Catch::Contains("mine/kernels/b200.json does not exist"));
}
