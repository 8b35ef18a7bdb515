#include "config/closest.hpp"

#include "catch.hpp"

using namespace servecast::config;

TEST_CASE("edits are insertions, deletions, replacements and swaps of neighbours") {
  CHECK(edit_distance("", "abc") == 3);
  CHECK(edit_distance("kitten", "sitting") == 3);
  CHECK(edit_distance("polcy", "policy") == 1);
  CHECK(edit_distance("ploicy", "policy") == 1);
  CHECK(edit_distance("same", "same") == 0);
}

TEST_CASE("the nearest name wins, ties go to the first, and far words have none") {
  const std::vector<std::string_view> names = {"token_budget", "policy", "police", "seed"};
  CHECK(closest("polcy", names) == "policy");
  CHECK(closest("polic", names) == "policy");
  CHECK(closest("tokenbudgets", names) == "token_budget");
  CHECK_FALSE(closest("replicas", names));
  CHECK_FALSE(closest("", std::vector<std::string_view>{"policy"}));
  CHECK_FALSE(closest(std::string(1'000'000, 'x'), names));
}

TEST_CASE("a hint suggests the near name or lists the known ones") {
  const std::vector<std::string> names = {"fcfs", "priority"};
  CHECK(hint("priorty", names) == "; did you mean \"priority\"?");
  CHECK(hint("round-robin", names) == "; known: fcfs, priority");
  CHECK(hint("x", std::vector<std::string>{}).empty());
}
