// Every kind of bad input: a clear message on stderr, nothing on stdout, exit 2 (1 for a file that cannot be read).
#include "catch.hpp"
#include "process.hpp"

#include <filesystem>
#include <string>

using servecast::test::Outcome;
using servecast::test::scenario_with;
using servecast::test::small_scenario;
using servecast::test::Workspace;

namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

void refused(const Outcome& outcome, int exit_code, const std::vector<std::string>& parts) {
  INFO(outcome.err);
  CHECK(outcome.exit_code == exit_code);
  CHECK(outcome.out.empty());
  for (const std::string& part : parts) {
    INFO("expected in the message: " << part);
    CHECK(contains(outcome.err, part));
  }
}

// Runs the small scenario with one replacement and expects exit 2 with all of `parts` in the message.
void refused_with(const std::string& from, const std::string& to, const std::vector<std::string>& parts) {
  Workspace work;
  work.write("bad.json", scenario_with(from, to));
  refused(work.servecast("run bad.json"), 2, parts);
}

std::string with_trace(const std::string& format) {
  const std::string text = small_scenario();
  return text.substr(0, text.find("\"workload\"")) + R"("workload": { "trace": "trace.csv", "format": ")" + format +
         "\" } }\n";
}

void trace_refused(const std::string& format, const std::string& trace, const std::vector<std::string>& parts) {
  Workspace work;
  work.write("bad.json", with_trace(format));
  work.write("trace.csv", trace);
  refused(work.servecast("run bad.json"), 2, parts);
}

const std::string azure_header = "TIMESTAMP,ContextTokens,GeneratedTokens\r\n";

}  // namespace

TEST_CASE("a missing scenario is the outside world, an unknown name is input") {
  const Workspace work;
  refused(work.servecast("run missing.json"), 1, {"missing.json", "No such file"});
  refused(work.servecast("run quikstart"), 2, {"quikstart", "did you mean \"quickstart\"?"});
}

TEST_CASE("a folder is no scenario") {
  Workspace work;
  work.write("mine", small_scenario());
  refused(work.servecast("run ."), 2, {"unknown scenario \".\"", "it is a folder: name a file in it"});
  refused(work.servecast("run ./"), 1, {"cannot read ./: it is a directory"});
  refused(work.servecast("run mine"), 2, {"to read the file of this name write \"./mine\""});
}

TEST_CASE("unknown keys name their pointer and the nearest key") {
  refused_with("\"replicas\"", "\"replica\"", {"bad.json:/pools/0/replica", "did you mean \"replicas\"?"});
  refused_with("\"max_num_seqs\"", "\"max_num_seq\"", {"bad.json:/pools/0/engine/max_num_seq", "max_num_seqs"});
}

TEST_CASE("all problems of a document are reported at once") {
  Workspace work;
  std::string text = scenario_with("\"replicas\": 2", "\"replicas\": 0");
  text.replace(text.find("\"nodes\": 1"), 10, "\"nodes\": -1");
  text.replace(text.find("\"requests\": 200"), 15, "\"requests\": \"many\"");
  work.write("bad.json", text);
  refused(work.servecast("run bad.json"), 2, {"/pools/0/replicas", "/cluster/nodes", "/workload/requests"});
}

TEST_CASE("values of the wrong type or out of range are refused") {
  refused_with("\"requests\": 200", "\"requests\": \"200\"", {"bad.json:/workload/requests"});
  refused_with("\"requests\": 200", "\"requests\": 2.5", {"bad.json:/workload/requests", "2.5"});
  refused_with("\"rate_per_s\": 10", "\"rate_per_s\": -1", {"bad.json:/workload/arrivals/rate_per_s", "-1"});
  refused_with("\"tensor\": 1", "\"tensor\": 0", {"bad.json:/pools/0/parallel/tensor", "0"});
}

TEST_CASE("an unknown variant is the only problem reported of its object") {
  Workspace work;
  work.write("s.json", small_scenario());
  for (const std::string key : {"input_tokens/distribution", "arrivals/process"}) {
    const Outcome outcome = work.servecast("run s.json --set /workload/" + key + "=bogus");
    refused(outcome, 2, {"--set /workload/" + key + ": \"bogus\" is not one of "});
    CHECK(outcome.err.find('\n') == outcome.err.size() - 1);
  }
  refused_with("\"rate_per_s\": 10", "\"rate_per_s\": \"x\"", {"found \"x\""});
}

TEST_CASE("NaN, infinities and huge numbers are refused") {
  refused_with("\"rate_per_s\": 10", "\"rate_per_s\": NaN", {"bad.json"});
  refused_with("\"rate_per_s\": 10", "\"rate_per_s\": 1e999", {"bad.json"});
  refused_with("\"rate_per_s\": 10", "\"rate_per_s\": 1e300", {"bad.json"});
  refused_with("\"requests\": 200", "\"requests\": 99999999999999999999999", {"bad.json"});
}

TEST_CASE("broken JSON, invalid UTF-8, deep nesting and duplicate keys are refused") {
  refused_with("\"version\": 1,", "\"version\": 1", {"bad.json"});
  refused_with("\"small\"", "\"sm\xff\xfe\"", {"bad.json"});
  refused_with("\"small\"", std::string(200'000, '[') + std::string(200'000, ']'), {"bad.json"});
  refused_with("\"version\": 1,", "\"version\": 1, \"version\": 1,", {"bad.json", "version"});
}

TEST_CASE("pools share no name") {
  refused_with("\"pools\": [", R"("pools": [ { "name": "serve", "stack": "vllm-0.19" }, )", {"serve", "unique"});
}

TEST_CASE("tensor parallelism must divide the model's heads") {
  refused_with("\"replicas\": 2, \"stack\": \"vllm-0.19\", \"parallel\": { \"tensor\": 1 }",
               "\"replicas\": 1, \"stack\": \"vllm-0.19\", \"parallel\": { \"tensor\": 3 }",
               {"/pools/0/parallel/tensor", "3", "32"});
}

TEST_CASE("replicas must have their GPUs") {
  refused_with("\"replicas\": 2", "\"replicas\": 9", {"/pools/0/replicas", "9", "8"});
}

TEST_CASE("what this version cannot simulate is refused by name") {
  refused_with("\"replicas\": 2,", R"("replicas": 2, "role": "prefill",)", {"/pools/0/role", "not in this version"});
  refused_with("\"replicas\": 2,", R"("replicas": 2, "speculative": { "method": "eagle3" },)",
               {"/pools/0/speculative", "not in this version"});
  refused_with("\"tensor\": 1", "\"tensor\": 1, \"pipeline\": 2", {"/pools/0/parallel/pipeline", "not modelled yet"});
}

TEST_CASE("a model that cannot fit exits 3 and names the smallest change") {
  Workspace work;
  work.write("big.json", scenario_with("llama-3.1-8b", "llama-3.1-405b"));
  for (const std::string verb : {"fit", "run"}) {
    const Outcome outcome = work.servecast(verb + " big.json");
    INFO(outcome.out << outcome.err);
    CHECK(outcome.exit_code == 3);
    CHECK(contains(outcome.out, "tensor"));
  }
}

TEST_CASE("requests longer than max_model_len are refused") {
  Workspace work;
  work.write("bad.json", scenario_with(R"("uniform", "min": 100, "max": 1000)", R"("fixed", "value": 100000)"));
  refused(work.servecast("run bad.json"), 2, {"max_model_len"});
  trace_refused("azure", azure_header + "2023-11-16 18:15:46.6805900,9000,44\r\n",
                {"trace.csv:2", "9000", "max_model_len 8192"});
}

TEST_CASE("a missing trace is the outside world") {
  Workspace work;
  work.write("bad.json", with_trace("azure"));
  refused(work.servecast("run bad.json"), 1, {"trace.csv", "No such file"});
}

TEST_CASE("broken traces name the line") {
  trace_refused("azure", "", {"trace.csv"});
  trace_refused("azure", azure_header, {"trace.csv"});
  trace_refused("azure", azure_header + "2023-11-16 18:15:46.6805900,374,44\r\n2023-11-16 18:15:50.99",
                {"trace.csv:3"});
  trace_refused("azure", azure_header + "2023-11-16 18:15:46.6805900,0,44\r\n", {"trace.csv:2"});
  trace_refused("azure", azure_header + "2023-11-16 18:15:46.6805900,374,44\r\n2023-11-16 18:15:45.0000000,10,10\r\n",
                {"trace.csv:3"});
  trace_refused("azure", azure_header + "2023-11-16 18:15:46.6805900,374,\xff\xfe\r\n", {"trace.csv:2"});
  trace_refused("azure", azure_header + std::string(10'000'000, '7') + "\r\n", {"trace.csv:2"});
  trace_refused("azure", "version https://git-lfs.github.com/spec/v1\noid sha256:0123\nsize 719188\n", {"Git LFS"});
  trace_refused("mooncake", "{\"timestamp\": -5, \"input_length\": 10, \"output_length\": 5, \"hash_ids\": [0]}\n",
                {"trace.csv:1"});
}

TEST_CASE("an override must touch an existing key with a legal value") {
  Workspace work;
  work.write("s.json", small_scenario());
  refused(work.servecast("run s.json --set /pools/0/replica=3"), 2, {"/pools/0/replica", "did you mean"});
  refused(work.servecast("run s.json --set /pools/0/replicas=0"), 2, {"/pools/0/replicas"});
  refused(work.servecast("run s.json --set replicas"), 2, {"--set"});
}

TEST_CASE("a what-if that extends itself is refused") {
  Workspace work;
  work.write("loop.json", R"({ "extends": "loop.json" })");
  refused(work.servecast("run loop.json"), 2, {"loop.json"});
}

TEST_CASE("explain refuses a step without anything in it") {
  const Workspace work;
  refused(work.servecast("explain quickstart --decode 0 --prefill 0"), 2, {"--decode", "nothing to explain"});
  refused(work.servecast("explain quickstart --decode 0"), 2, {"--decode", "nothing to explain"});
  refused(work.servecast("explain quickstart --prefill 8 --context 100"), 2, {"--context", "--decode"});
  CHECK(work.servecast("explain quickstart --context 100").out.find("1 decoding at 100 tokens each") !=
        std::string::npos);
}

TEST_CASE("messages show long names by their beginning and their length") {
  const Workspace work;
  const std::string name(3000, 'x');
  for (const std::string& arguments :
       {"run " + name, "run " + name + ".json", name, "run quickstart --" + name,
        "run quickstart --set /" + name + "=3", "run quickstart --seed " + name, "run quickstart --out " + name,
        "list " + name, "describe " + name + " x", "schema " + name, "init " + name, "import trace " + name,
        "import trace x --format " + name, "validate x --max-error " + name, "calibrate show --stack " + name}) {
    const Outcome outcome = work.servecast(arguments);
    INFO(outcome.err);
    CHECK(outcome.exit_code != 0);
    CHECK(outcome.err.size() < 600);
    CHECK(outcome.err.find(" bytes)") != std::string::npos);
  }
}

TEST_CASE("usage errors name the verb and where its help is") {
  const Workspace work;
  CHECK(work.servecast("run quickstart --sed 3").err ==
        "servecast run: the following arguments were not expected: 3 --sed; see servecast run --help\n");
  CHECK(work.servecast("import").err == "servecast import: a subcommand is required; see servecast import --help\n");
}

TEST_CASE("a calibration in which nothing can be fitted writes nothing and says so") {
  Workspace work;
  work.write("b200_sxm__vllm-0.19.0__gemm_perf.csv",
             "kernel_source,gemm_dtype,m,n,k,latency_us\nvllm_default,bfloat16,64,8192,8192,23.0\n");
  const Outcome outcome = work.servecast("calibrate fit b200_sxm__vllm-0.19.0__gemm_perf.csv -o mine");
  CHECK(outcome.exit_code == 5);
  CHECK(contains(outcome.err, "nothing was fitted and nothing written"));
  CHECK_FALSE(std::filesystem::exists(work.folder() / "mine"));
}
