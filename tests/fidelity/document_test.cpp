// docs/FIDELITY.md must say what this binary predicts for the committed points.
#include "catch.hpp"

#include <array>
#include <cstdio>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>

namespace {

std::string read(const std::string& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::string output_of(const std::string& command) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  REQUIRE(pipe != nullptr);
  std::string out;
  std::array<char, 4096> buffer{};
  for (std::size_t n = 0; (n = std::fread(buffer.data(), 1, buffer.size(), pipe.get())) > 0;)
    out.append(buffer.data(), n);
  return out;
}

std::string between(const std::string& text, const std::string& begin, const std::string& end) {
  const std::size_t from = text.find(begin);
  const std::size_t to = text.find(end);
  if (from == std::string::npos || to == std::string::npos) return "";
  return text.substr(from + begin.size(), to - from - begin.size());
}

}  // namespace

TEST_CASE(
    "the document's figures of the committed points are those of this binary; tools/update-fidelity rewrites them") {
  const std::string root = SERVECAST_SOURCE_DIR;
  const std::string document = read(root + "/docs/FIDELITY.md");
  const std::string predicted =
      output_of("'" SERVECAST_BINARY "' validate '" + root + "/tests/fidelity/points.csv' --markdown --rows 10");
  REQUIRE_FALSE(predicted.empty());
  CHECK(between(document, "<!-- points -->\n", "<!-- end points -->") == predicted);
}

TEST_CASE("the document opens with the assumptions that the preface states") {
  const std::string root = SERVECAST_SOURCE_DIR;
  CHECK(read(root + "/docs/FIDELITY.md").starts_with(read(root + "/docs/fidelity-preface.md")));
}

TEST_CASE("the document's errors of kernel profiles are those of the built-in ones") {
  const std::string document = read(std::string(SERVECAST_SOURCE_DIR) + "/docs/FIDELITY.md");
  const std::string shown = output_of("'" SERVECAST_BINARY "' calibrate show --markdown");
  REQUIRE_FALSE(shown.empty());
  CHECK(between(document, "<!-- profiles -->\n", "<!-- end profiles -->") == shown);
}
