// Runs the cases of cases.txt and compares result.json with the stored one, byte by byte except for the tool's version.
// After a wanted change of results run tools/update-golden and review the difference.
#include "catch.hpp"

#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace {

const std::string folder = SERVECAST_SOURCE_DIR "/tests/golden/";

struct Case {
  std::string name;
  std::string arguments;
};

std::vector<Case> cases() {
  std::vector<Case> out;
  std::ifstream in(folder + "cases.txt");
  for (std::string line; std::getline(in, line);) {
    const auto space = line.find(' ');
    if (line.empty() || line[0] == '#' || space == std::string::npos) continue;
    out.push_back({line.substr(0, space), line.substr(space + 1)});
  }
  return out;
}

std::string output_of(const std::string& command) {
  std::string text;
  std::FILE* pipe = popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  char buffer[4096];
  for (std::size_t n = 0; (n = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) text.append(buffer, n);
  pclose(pipe);
  return text;
}

std::vector<std::string> comparable_lines(std::istream& in) {
  std::vector<std::string> out;
  for (std::string line; std::getline(in, line);)
    if (line.find("\"tool_version\"") == std::string::npos) out.push_back(line);
  return out;
}

}  // namespace

TEST_CASE("results equal the stored ones; tools/update-golden rewrites them after a wanted change") {
  REQUIRE_FALSE(cases().empty());
  for (const Case& golden : cases()) {
    INFO(golden.name);
    std::istringstream run(output_of("'" SERVECAST_BINARY "' run " + golden.arguments + " --json"));
    std::ifstream stored(folder + golden.name + ".json");
    REQUIRE(stored);
    CHECK(comparable_lines(run) == comparable_lines(stored));
  }
}
