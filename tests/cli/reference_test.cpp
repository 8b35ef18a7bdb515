#include "catch.hpp"
#include "process.hpp"

#include <fstream>
#include <sstream>

using servecast::test::Outcome;
using servecast::test::Workspace;

namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("help and version go to stdout with exit 0") {
  const Workspace work;
  const Outcome help = work.servecast("--help");
  CHECK(help.exit_code == 0);
  CHECK(contains(help.out, "run"));
  CHECK(contains(help.out, "Exit codes"));
  CHECK(help.err.empty());
  const Outcome version = work.servecast("--version");
  CHECK(version.exit_code == 0);
  CHECK(version.out.starts_with("servecast "));
  CHECK(work.servecast("run --help").exit_code == 0);
}

TEST_CASE("no verb, an unknown verb and an unknown flag are usage errors") {
  const Workspace work;
  CHECK(work.servecast("").exit_code == 2);
  const Outcome typo = work.servecast("rnu quickstart");
  CHECK(typo.exit_code == 2);
  CHECK(contains(typo.err, "did you mean \"run\"?"));
  CHECK(work.servecast("run quickstart --sed 3").exit_code == 2);
  CHECK(work.servecast("run").exit_code == 2);
  CHECK(work.servecast("run quickstart --seed -1").exit_code == 2);
}

TEST_CASE("verbs of later versions are refused by name") {
  const Workspace work;
  for (const std::string verb : {"sweep", "plan", "check", "numerics acceptance", "numerics routing"}) {
    const Outcome outcome = work.servecast(verb + " something --flag");
    CHECK(outcome.exit_code == 2);
    CHECK(outcome.err == "servecast " + verb + ": not in this version\n");
  }
}

TEST_CASE("list names what is built in") {
  const Workspace work;
  CHECK(contains(work.servecast("list models").out, "llama-3.1-70b"));
  CHECK(contains(work.servecast("list hardware").out, "hgx-b200"));
  CHECK(contains(work.servecast("list stacks").out, "vllm-0.19"));
  CHECK(contains(work.servecast("list scenarios").out, "quickstart"));
  CHECK(contains(work.servecast("list routers").out, "round-robin"));
  CHECK(work.servecast("list").exit_code == 0);
  const Outcome typo = work.servecast("list modles");
  CHECK(typo.exit_code == 2);
  CHECK(contains(typo.err, "did you mean \"models\"?"));
}

TEST_CASE("describe shows a model, a GPU, a node and a stack") {
  const Workspace work;
  const Outcome model = work.servecast("describe model llama-3.1-8b");
  CHECK(model.exit_code == 0);
  CHECK(contains(model.out, "8,030,261,248"));
  CHECK(contains(model.out, "131,072"));
  CHECK(work.servecast("describe hardware b200").exit_code == 0);
  CHECK(work.servecast("describe hardware hgx-b200").exit_code == 0);
  CHECK(work.servecast("describe stack vllm-0.19").exit_code == 0);
  const Outcome typo = work.servecast("describe model lama-3.1-8b");
  CHECK(typo.exit_code == 2);
  CHECK(contains(typo.err, "did you mean \"llama-3.1-8b\"?"));
}

TEST_CASE("schema prints a draft-07 schema of every document") {
  const Workspace work;
  for (const std::string document : {"", "scenario", "model", "gpu", "node", "fabric", "stack"}) {
    const Outcome outcome = work.servecast("schema " + document);
    CHECK(outcome.exit_code == 0);
    CHECK(contains(outcome.out, "http://json-schema.org/draft-07/schema#"));
  }
  CHECK(work.servecast("schema scenrio").exit_code == 2);
}

TEST_CASE("init gives a scenario that runs as it is") {
  const Workspace work;
  CHECK(work.servecast("init closed-loop-chat --out mine.json").exit_code == 0);
  CHECK(work.read("mine.json").starts_with("//"));
  CHECK(work.servecast("run mine.json").exit_code == 0);
  CHECK(work.servecast("init nothing-like-it").exit_code == 2);
}

TEST_CASE(
    "docs/CONFIG.md is what schema markdown prints; servecast schema markdown --out docs/CONFIG.md refreshes it") {
  Workspace work;
  CHECK(work.servecast("schema markdown --out CONFIG.md").exit_code == 0);
  std::ostringstream stored;
  stored << std::ifstream(SERVECAST_SOURCE_DIR "/docs/CONFIG.md").rdbuf();
  CHECK((work.read("CONFIG.md") == stored.str()));
}

TEST_CASE("help and descriptions fit 80 columns") {
  const Workspace work;
  for (const std::string arguments : {"--help",
                                      "run --help",
                                      "fit --help",
                                      "explain --help",
                                      "describe --help",
                                      "list --help",
                                      "schema --help",
                                      "init --help",
                                      "import --help",
                                      "import trace --help",
                                      "import hf-config --help",
                                      "calibrate --help",
                                      "calibrate fit --help",
                                      "calibrate score --help",
                                      "calibrate show --help",
                                      "capacity --help",
                                      "compare --help",
                                      "validate --help",
                                      "list",
                                      "describe model deepseek-v3",
                                      "describe hardware b200",
                                      "describe hardware hgx-b200",
                                      "describe fabric nvlink5-hgx",
                                      "describe stack vllm-0.19",
                                      "describe stack sglang-0.5"}) {
    const Outcome outcome = work.servecast(arguments);
    INFO(arguments << "\n" << outcome.err);
    CHECK(outcome.exit_code == 0);
    std::istringstream lines(outcome.out);
    for (std::string line; std::getline(lines, line);) {
      INFO(line);
      CHECK(line.size() <= 80);
    }
  }
}
