// What --out leaves in a folder, whatever was there before and whatever goes wrong.
#include "catch.hpp"
#include "process.hpp"

#include <string>

using servecast::test::Outcome;
using servecast::test::scenario_with;
using servecast::test::small_scenario;
using servecast::test::Workspace;
namespace fs = std::filesystem;

namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::string endless() { return scenario_with("\"requests\": 200", "\"requests\": 50000000"); }

}  // namespace

TEST_CASE("a killed run leaves no file of an earlier scenario beside its own") {
  Workspace work;
  work.write("s.json", small_scenario());
  work.write("endless.json", endless());
  REQUIRE(work.shell("servecast run s.json --out d > out.txt && servecast fit s.json --out d > out.txt") == 0);
  CHECK(fs::exists(work.folder() / "d/result.json"));
  CHECK(work.shell("timeout -s KILL 1 '" SERVECAST_BINARY "' run endless.json --out d > out.txt 2>&1") != 0);
  CHECK(contains(work.read("d/resolved.json"), "50000000"));
  CHECK(std::distance(fs::directory_iterator(work.folder() / "d"), fs::directory_iterator{}) == 1);
}

TEST_CASE("another answer to the same scenario keeps the files of the first") {
  Workspace work;
  work.write("s.json", small_scenario());
  REQUIRE(work.shell("servecast run s.json --out d > out.txt && servecast fit s.json --out d > out.txt") == 0);
  CHECK(fs::exists(work.folder() / "d/requests.csv"));
  CHECK(fs::exists(work.folder() / "d/fit.json"));
}

TEST_CASE("a result that cannot be saved is printed all the same") {
  if (!fs::exists("/dev/full")) return;
  Workspace work;
  work.write("s.json", small_scenario());
  const std::string expected = work.servecast("run s.json").out;
  fs::create_directory(work.folder() / "d");
  REQUIRE(work.servecast("run s.json --out d").exit_code == 0);
  fs::create_symlink("/dev/full", work.folder() / "d/timeline.csv.partial");
  const Outcome outcome = work.servecast("run s.json --out d");
  CHECK(outcome.exit_code == 1);
  CHECK(outcome.out == expected);
  CHECK(contains(outcome.err, "cannot write d/timeline.csv: No space left on device"));
}

TEST_CASE("a folder with the name of one of our files is refused before the run begins") {
  Workspace work;
  work.write("endless.json", endless());
  fs::create_directories(work.folder() / "d/result.json");
  const Outcome outcome = work.servecast("run endless.json --out d");
  CHECK(outcome.exit_code == 1);
  CHECK(contains(outcome.err, "cannot write d/result.json: it is a folder"));
  CHECK(fs::is_directory(work.folder() / "d/result.json"));
  CHECK_FALSE(fs::exists(work.folder() / "d/resolved.json"));
}

TEST_CASE("an empty value of a flag or argument is refused by name") {
  Workspace work;
  work.write("s.json", small_scenario());
  for (const std::string arguments : {"run s.json --out ''", "fit s.json --out ''", "init quickstart --out ''",
                                      "import trace s.json --format ''", "calibrate show --stack ''"}) {
    const Outcome outcome = work.servecast(arguments);
    INFO(arguments << "\n" << outcome.err);
    CHECK(outcome.exit_code == 2);
    CHECK(outcome.out.empty());
    CHECK(contains(outcome.err, "is empty"));
  }
  CHECK(contains(work.servecast("run s.json --out ''").err, "--out"));
  CHECK(contains(work.servecast("run ''").err, "scenario"));
}

TEST_CASE("a link's file is replaced and not the link, and a device is written to and not replaced") {
  Workspace work;
  work.write("real.json", "old");
  fs::create_symlink("real.json", work.folder() / "link.json");
  CHECK(work.servecast("init quickstart --out link.json").exit_code == 0);
  CHECK(fs::is_symlink(work.folder() / "link.json"));
  CHECK(work.read("real.json") == work.servecast("init quickstart").out);
  const Outcome full = work.servecast("init quickstart --out /dev/full");
  CHECK(full.exit_code == 1);
  CHECK(contains(full.err, "No space left on device"));
  CHECK(fs::is_character_file("/dev/full"));
}
