// Two deployments under the same random numbers: differences of what runs measure, with 95 % intervals from paired
// replications (Student's t over the differences of equal seeds). Two stored results compare without intervals.
#pragma once

#include "config/document.hpp"
#include "scenario/build.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace servecast::plan {

struct CompareOptions {
  std::int32_t replications = 5;  // seeds 1 to this
  int threads = 0;
  const std::atomic<bool>* stop = nullptr;
};

struct Difference {
  std::string metric;  // JSON pointer into the result
  std::string unit;
  bool lower_is_better = true;
  double a = 0;  // means over replications
  double b = 0;
  std::optional<double> half_width;  // of b - a; none with one replication
  double difference() const { return b - a; }
  std::optional<double> ratio() const { return a != 0 ? std::optional(b / a) : std::nullopt; }
  // Beyond chance, or without an interval: simply unequal.
  bool clear() const;
};

struct Comparison {
  std::string a, b;               // names
  std::int32_t replications = 0;  // 0: stored results
  std::vector<Difference> differences;
  std::vector<std::string> states;    // verdicts of both where they are not stable, in words
  std::vector<std::string> warnings;  // why the comparison may mislead
  std::string problem;                // one of them does not fit into memory; no differences then
  bool interrupted = false;
};

// Paired values of one metric to its row. Requires: equal sizes, not empty.
Difference paired(const std::vector<double>& a, const std::vector<double>& b);

Comparison compare_scenarios(const scenario::Resolved& a, const scenario::Resolved& b, const CompareOptions& options);
Comparison compare_results(const config::Document& a, const config::Document& b, std::string name_a,
                           std::string name_b);
// True for a result.json rather than a scenario.
bool is_result(const config::Document& document);

std::string comparison_text(const Comparison& c);
std::string comparison_json(const Comparison& c);

}  // namespace servecast::plan
