#include "catch.hpp"
#include "config/json_reader.hpp"
#include "config/json_writer.hpp"
#include "core/random.hpp"
#include "sample.hpp"

using namespace servecast;
using namespace servecast::config;

namespace {

// One to four random edits: overwrite, insert, delete, or copy a piece to another place.
std::string mutated(std::string text, core::Random& random) {
  const std::uint64_t edits = 1 + random.below(4);
  for (std::uint64_t i = 0; i < edits && !text.empty(); ++i) {
    const std::size_t at = random.below(text.size());
    const auto byte = static_cast<char>(random.below(256));
    constexpr std::string_view structure = "{}[]\",:0-e.nt/*\\";
    switch (random.below(5)) {
      case 0: text[at] = byte; break;
      case 1: text.insert(at, 1, structure[random.below(structure.size())]); break;
      case 2: text.erase(at, 1 + random.below(8)); break;
      case 3: text.insert(at, text.substr(random.below(text.size()), random.below(40))); break;
      default: text[at] = structure[random.below(structure.size())]; break;
    }
  }
  return text;
}

}  // namespace

TEST_CASE("mutated documents are read or refused as input errors, never anything else") {
  core::Random random(31, "mutations");
  int accepted = 0;
  for (int i = 0; i < 20'000; ++i) {
    const std::string text = mutated(std::string(sample::valid_json), random);
    try {
      const auto scenario = read<sample::Scenario>(Document::from_text(text, "mutant.json"));
      ++accepted;
      const std::string written = write(scenario);
      REQUIRE(write(read<sample::Scenario>(Document::from_text(written, "written.json"))) == written);
    } catch (const core::InputError& e) {
      REQUIRE_FALSE(e.lines().empty());
    }
  }
  CHECK(accepted > 100);  // many edits hit comments, spaces and digits
}

TEST_CASE("mutated overrides are applied or refused as problems, never anything else") {
  core::Random random(37, "overrides");
  const std::vector<std::string> seeds = {"/pools/0/replicas=3", "/model={\"a\": [1, 2]}", "/scheduler/policy=fcfs"};
  for (int i = 0; i < 5'000; ++i) {
    Document document = Document::from_text(sample::valid_json, "demo.json");
    core::Problems problems;
    document.set(mutated(seeds[random.below(seeds.size())], random), problems);
    sample::Scenario scenario;
    read(document, scenario, problems);
    for (const std::string& line : problems.lines()) REQUIRE_FALSE(line.empty());
  }
}
