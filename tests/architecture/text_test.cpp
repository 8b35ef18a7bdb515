// What every file must look like, whatever it says.
#include "architecture/sources.hpp"
#include "catch.hpp"

#include <algorithm>

using namespace architecture;

namespace {

const std::vector<std::string> own_roots = {
    ".ci",           "cmake",      "docs",           "hardware_profiles", "models",    "scenarios",       "src",
    "tests",         "tools",      "CMakeLists.txt", "CMakePresets.json", "README.md", "CONTRIBUTING.md", "vcpkg.json",
    ".clang-format", ".clang-tidy"};

}  // namespace

TEST_CASE("sources are ASCII") {
  Findings findings;
  for (const File& file : files({"src", "tests", "cmake", "tools", ".ci", "CMakeLists.txt"})) {
    const auto odd = std::ranges::find_if(file.text, [](char c) { return static_cast<unsigned char>(c) >= 128; });
    if (odd != file.text.end())
      findings.add(place(file, static_cast<std::size_t>(odd - file.text.begin())), "is not ASCII");
  }
  CHECK(findings.text() == "");
}

TEST_CASE("no source file is longer than 400 lines") {
  // 300 is the aim; a longer file usually holds a second idea.
  Findings findings;
  for (const File& file : sources()) {
    const auto lines = std::ranges::count(file.text, '\n');
    if (lines > 400) findings.add(file.path, std::to_string(lines) + " lines");
  }
  CHECK(findings.text() == "");
}

TEST_CASE("a header says what it is before anything else and is included once") {
  Findings findings;
  for (const File& file : sources()) {
    if (!file.is_header()) continue;
    if (!file.text.starts_with("// "))
      findings.add(file.path + ":1", "a header starts with a comment: what, units, limits");
    if (file.text.find("\n#pragma once\n") == std::string::npos) findings.add(file.path, "#pragma once is missing");
  }
  CHECK(findings.text() == "");
}

TEST_CASE("a source includes its own header before all others") {
  // Which proves that the header needs nothing included before it.
  std::set<std::string> headers;
  for (const File& file : sources()) {
    if (file.is_header()) headers.insert(file.path);
  }
  Findings findings;
  for (const File& file : sources()) {
    const std::string own = file.path.substr(0, file.path.size() - 3) + "hpp";
    if (!file.is_cpp() || !headers.contains(own)) continue;
    const auto all = includes(file);
    if (all.empty() || "src/" + all.front().name != own) findings.add(file.path, own + " is not its first include");
  }
  CHECK(findings.text() == "");
}

TEST_CASE("SERVECAST_ENSURE is the only macro") {
  Findings findings;
  for (const File& file : sources()) {
    const std::string code = code_only(file.text);
    for (const auto at : find_word(code, "#define")) {
      if (!code.substr(at).starts_with("#define SERVECAST_ENSURE(")) findings.add(place(file, at), "is a macro");
    }
  }
  CHECK(findings.text() == "");
}

TEST_CASE("files name no machine's folders and put nothing off") {
  // Spelled in two halves, because this file is read too.
  const std::vector<std::string> words = {std::string("/wo") + "rk/", std::string("TO") + "DO",
                                          std::string("FIX") + "ME"};
  Findings findings;
  for (const File& file : files(own_roots)) {
    for (const auto& word : words) {
      for (const auto at : find_word(file.text, word))
        findings.add(place(file, at), word + " does not belong in the project");
    }
  }
  CHECK(findings.text() == "");
}

TEST_CASE("tests include Catch2 through one header") {
  Findings findings;
  for (const File& file : files({"tests"}, {".hpp", ".cpp"})) {
    if (file.path == "tests/catch.hpp") continue;
    for (const Include& include : includes(file)) {
      if (include.name.starts_with("catch2/"))
        findings.add(place(file, include.offset), "include \"catch.hpp\": two versions are in use");
    }
  }
  CHECK(findings.text() == "");
}
