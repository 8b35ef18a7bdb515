// Who may include whom, and who may touch the outside world.
#include "architecture/sources.hpp"
#include "catch.hpp"

#include <algorithm>

using namespace architecture;

namespace {

// Reports `words` in the code of every file for which `applies` holds.
template <typename Applies>
std::string forbidden_words(const std::vector<std::string>& words, const std::string& why, Applies applies) {
  Findings findings;
  for (const File& file : sources()) {
    if (!applies(file)) continue;
    const std::string code = code_only(file.text);
    for (const auto& word : words) {
      for (const auto at : find_word(code, word)) findings.add(place(file, at), word + " " + why);
    }
  }
  return findings.text();
}

}  // namespace

TEST_CASE("LAYERS lists a layer after the layers it may include") {
  const Layers layers = read_layers();
  REQUIRE(layers.order.size() >= 10);
  std::set<std::string> seen;
  Findings findings;
  for (const auto& layer : layers.order) {
    for (const auto& other : layers.allowed.at(layer)) {
      if (other != layer && !seen.contains(other)) findings.add("src/LAYERS", layer + " names " + other + " too early");
    }
    seen.insert(layer);
  }
  CHECK(findings.text() == "");
}

TEST_CASE("a layer includes only layers that LAYERS allows") {
  const Layers layers = read_layers();
  Findings findings;
  for (const File& file : sources()) {
    if (!layers.allowed.contains(file.layer())) {
      findings.add(file.path, "its folder is no layer of src/LAYERS");
      continue;
    }
    for (const Include& include : includes(file)) {
      if (include.angled) continue;
      const std::string target = include.name.substr(0, include.name.find('/'));
      if (!layers.allowed.contains(target)) {
        findings.add(place(file, include.offset), "\"" + include.name + "\" does not start with a layer");
      } else if (!layers.allowed.at(file.layer()).contains(target)) {
        findings.add(place(file, include.offset), file.layer() + " may not include " + target);
      }
    }
  }
  CHECK(findings.text() == "");
}

TEST_CASE("JSON and command-line libraries stay out of headers and of other layers") {
  // Files outside config and report that read somebody else's JSON, which no describe() covers.
  const std::set<std::string> foreign = {"src/model/hf_config.cpp", "src/workload/json_rows.cpp"};
  Findings findings;
  for (const File& file : sources()) {
    for (const Include& include : includes(file)) {
      const bool json = include.name.starts_with("nlohmann/");
      const bool options = include.name.starts_with("CLI/");
      const bool forward = include.name == "nlohmann/json_fwd.hpp" && file.layer() == "config";
      if ((json || options) && file.is_header() && !forward) {
        findings.add(place(file, include.offset),
                     include.name + " in a header costs seconds per file that includes it");
      }
      if (json && file.layer() != "config" && file.layer() != "report" && !foreign.contains(file.path)) {
        findings.add(place(file, include.offset), "JSON is read through config and written through config or report");
      }
      if (options && file.layer() != "cli") findings.add(place(file, include.offset), "options are parsed in cli only");
    }
  }
  CHECK(findings.text() == "");
}

TEST_CASE("the true output length is read in engine and workload only") {
  // Request::hidden is the oracle's knowledge; routers, admission and reports must do without.
  const auto others = [](const File& f) { return f.layer() != "engine" && f.layer() != "workload"; };
  CHECK(forbidden_words({"hidden.", "workload::Hidden", "request.hidden", "request->hidden"}, "is the oracle's",
                        others) == "");
}

TEST_CASE("only cli prints, exits, or reads arguments and the environment") {
  const std::vector<std::string> words = {"std::cout",      "std::cerr", "std::clog",      "printf(",     "fprintf(",
                                          "puts(",          "fputs(",    "putchar(",       "fmt::print",  "stdout",
                                          "stderr",         "exit(",     "_exit(",         "quick_exit(", "abort(",
                                          "std::terminate", "getenv(",   "secure_getenv(", "argv",        "isatty("};
  CHECK(forbidden_words(words, "belongs to cli", [](const File& f) { return f.layer() != "cli"; }) == "");
}

TEST_CASE("results come from our own random streams and from ordered containers") {
  const std::vector<std::string> random = {"rand(",
                                           "srand(",
                                           "random_device",
                                           "mt19937",
                                           "mt19937_64",
                                           "std::shuffle",
                                           "std::sample",
                                           "std::hash",
                                           "ranges::shuffle",
                                           "default_random_engine",
                                           "std::generate_canonical"};
  const auto all = [](const File&) { return true; };
  CHECK(forbidden_words(random, "differs between standard libraries", all) == "");

  Findings findings;
  for (const File& file : sources()) {
    const std::string code = code_only(file.text);
    const std::string suffix = "_distribution";
    for (auto at = code.find(suffix); at != std::string::npos; at = code.find(suffix, at + 1)) {
      const auto start = code.find_last_not_of("abcdefghijklmnopqrstuvwxyz_", at) + 1;
      if (start >= 2 && code.substr(start - 2, 2) == "::" && code.substr(start < 5 ? 0 : start - 5, 5) == "std::") {
        findings.add(place(file, at), "std distributions differ between standard libraries; see core/random.hpp");
      }
    }
  }
  CHECK(findings.text() == "");

  const std::vector<std::string> unordered = {"unordered_map",      "unordered_set",      "unordered_multimap",
                                              "unordered_flat_map", "unordered_flat_set", "unordered_node_map"};
  const auto reported = [](const File& f) { return f.layer() == "metrics" || f.layer() == "report"; };
  CHECK(forbidden_words(unordered, "has no order; results need one", reported) == "");
}

TEST_CASE("simulated results do not depend on the wall clock") {
  const std::vector<std::string> words = {"system_clock",  "steady_clock",   "high_resolution_clock",
                                          "gettimeofday(", "clock_gettime(", "std::time(",
                                          "localtime(",    "gmtime("};
  CHECK(forbidden_words(words, "belongs to cli", [](const File& f) { return f.layer() != "cli"; }) == "");
}

TEST_CASE("the search finds words in code and not in comments, strings or longer names") {
  const std::string code =
      code_only("int snprintf(); // printf(\nconst char* s = \"exit(\"; char c = '\"'; printf(1'000);\n");
  CHECK(find_word(code, "printf(").size() == 1);
  CHECK(find_word(code, "exit(").empty());
  CHECK(find_word("a.hidden.x overhidden.y", "hidden.").size() == 1);
}
