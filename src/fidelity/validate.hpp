// Validation of a file of measured rows: every row predicted or refused, errors by group and in all. The result is the
// same for any number of threads.
#pragma once

#include "fidelity/measured.hpp"
#include "fidelity/rows.hpp"
#include "fidelity/statistics.hpp"

#include <atomic>
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace servecast::fidelity {

// Limits on the median absolute error: "tpot_ms=6" in per cent. Throws core::InputError when one is malformed or names
// a metric that the file does not score.
struct ErrorLimit {
  std::string metric;
  double percent = 0;
};

struct ValidateOptions {
  int threads = 0;                 // 0: as many as the machine has
  bool series_clients = true;      // client settings that some series imply
  std::vector<ErrorLimit> limits;  // their metrics are checked before anything is predicted
  const std::atomic<bool>* stop = nullptr;
  std::function<void(std::size_t done, std::size_t total)> progress;  // called from one thread at a time
};

// Reason of the rows that an interrupted validation did not come to.
inline constexpr std::string_view not_reached = "not reached before the interruption";

struct MetricAccuracy {
  std::string metric;
  Accuracy scored;
  Accuracy doubtful;           // the distrusted values, apart
  std::optional<double> rank;  // within groups, weighted by rows; of a single group its own
};

struct Group {
  std::string model, gpu, engine, stack;
  scenario::Match match = scenario::Match::Unversioned;
  std::size_t rows = 0;  // predicted
  std::vector<MetricAccuracy> metrics;
};

struct Validation {
  std::string file;
  Kind kind = Kind::ServingClosedLoop;
  std::vector<Case> cases;                                  // in order of the file
  std::map<std::string, std::size_t, std::less<>> refused;  // by reason
  std::map<std::string, std::size_t, std::less<>> context;
  std::size_t predicted = 0, duplicates = 0;
  std::size_t configurations = 0;  // step times compiled
  std::vector<Group> groups;       // ascending by model, GPU, engine
  std::vector<MetricAccuracy> all;
  std::map<std::string, std::vector<MetricAccuracy>, std::less<>> by_match;  // exact, nearest, unversioned
  bool interrupted = false;
};

// Throws core::Error when the file cannot be read, core::InputError when it is malformed or of no known kind.
Validation validate_file(const std::string& path, const ValidateOptions& options);
Validation validate(const CsvTable& table, const std::string& place, const ValidateOptions& options);

// The scenario that predicts the row on a line of the file, as a document to run and explain. Throws core::InputError
// when there is no such row or none predicts it.
std::string scenario_of_line(const std::string& path, std::int64_t line, bool series_clients);

// The rows furthest off, worst first, over all metrics scored; n of them.
struct Worst {
  const Case* row = nullptr;
  const Measure* measure = nullptr;
};
std::vector<Worst> worst_rows(const Validation& v, std::size_t n);

ErrorLimit error_limit(const std::string& text);
// One line for each limit that is exceeded.
std::vector<std::string> exceeded(const Validation& v, const std::vector<ErrorLimit>& limits);

std::string validation_text(const Validation& v, std::size_t worst);
std::string validation_json(const Validation& v);
std::string validation_markdown(const Validation& v, std::size_t worst);

}  // namespace servecast::fidelity
