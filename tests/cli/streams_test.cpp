// Standard streams that are full or closed, and signals: a clear error and a documented exit code, never an abort.
#include "catch.hpp"
#include "process.hpp"

#include <string>

using servecast::test::scenario_with;
using servecast::test::small_scenario;
using servecast::test::Workspace;

namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

const std::string full = "cannot write to standard output: No space left on device";
const std::string closed = "cannot write to standard output: Bad file descriptor";

}  // namespace

TEST_CASE("a message that cannot be written leaves the exit code of its error") {
  const Workspace work;
  for (const std::string stream : {"2> /dev/full", "2>&-"}) {
    CHECK(work.shell("servecast run nowhere " + stream) == 2);
    CHECK(work.shell("servecast run nowhere.json " + stream) == 1);
    CHECK(work.shell("servecast run quickstart --sed 3 " + stream) == 2);
    CHECK(work.shell("servecast sweep " + stream) == 2);
    CHECK(work.shell("servecast run quickstart --out /dev/null/x " + stream) == 1);
  }
}

TEST_CASE("a lost warning is not a success") {
  Workspace work;
  work.write("s.json", small_scenario());
  CHECK(work.shell("servecast run s.json > out.txt 2>&-") == 0);  // nothing to say
  work.write("config.json",
             R"({ "model_type": "llama", "num_hidden_layers": 2, "hidden_size": 64, "vocab_size": 100,
                  "num_attention_heads": 4, "intermediate_size": 100, "max_position_embeddings": 100 })");
  CHECK(work.shell("servecast import hf-config config.json > out.txt 2> err.txt") == 0);
  CHECK(contains(work.read("err.txt"), "note: "));
  CHECK(work.shell("servecast import hf-config config.json > out.txt 2> /dev/full") == 1);
  work.write(
      "t.json",
      scenario_with("\"name\": \"small\",",
                    R"("name": "small", "thresholds": [ { "metric": "/latency/ttft_ms/p99", "max": 0.001 } ],)"));
  CHECK(work.shell("servecast run t.json > out.txt 2>&-") == 4);
  CHECK_FALSE(work.read("out.txt").empty());
}

TEST_CASE("an answer that cannot be written is an error of the outside world") {
  Workspace work;
  work.write("s.json", small_scenario());
  for (const std::string arguments : {"run s.json", "fit s.json", "list", "--help", "run --help", "--version", ""}) {
    INFO(arguments);
    CHECK(work.shell("servecast " + arguments + " > /dev/full 2> err.txt") == 1);
    CHECK(contains(work.read("err.txt"), full));
    CHECK(work.shell("servecast " + arguments + " >&- 2> err.txt") == 1);
    CHECK(contains(work.read("err.txt"), closed));
    CHECK(work.shell("servecast " + arguments + " >&- 2>&- <&-") == 1);
  }
}

TEST_CASE("files never receive what belongs to a closed stream") {
  Workspace work;
  work.write("s.json", small_scenario());
  REQUIRE(work.shell("servecast run s.json --out open --json > out.txt") == 0);
  CHECK(work.shell("servecast run s.json --out shut >&- 2>&- <&-") == 1);
  for (const std::string file : {"resolved.json", "result.json", "requests.csv", "timeline.csv"})
    CHECK((work.read("shut/" + file) == work.read("open/" + file)));
}

TEST_CASE("a hang-up ends a run with its partial result and exit 129, unless it is ignored") {
  Workspace work;
  work.write("s.json", scenario_with("\"requests\": 200", "\"requests\": 50000000"));
  const std::string run = "timeout --preserve-status -s HUP 1 '" SERVECAST_BINARY "' run s.json > out.txt 2> err.txt";
  CHECK(work.shell(run) == 129);
  CHECK(contains(work.read("out.txt"), "interrupted"));
  work.write("short.json", small_scenario());
  CHECK(work.shell("trap '' HUP; (servecast run short.json > out.txt & kill -HUP $!; wait $!)") == 0);
}
