#include "fidelity/rows.hpp"

#include "core/error.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace servecast::fidelity {

namespace {

// Columns that do not say what was measured: they may differ between two reports of one measurement.
constexpr std::array<std::string_view, 5> not_keys = {"id", "date", "source", "notes", "evidence"};
constexpr std::array<std::string_view, 3> values = {"ttft_ms", "tpot_ms", "value"};
constexpr double same = 0.001;  // specified: values this close are one measurement

bool among(const auto& list, std::string_view column) {
  return std::find(list.begin(), list.end(), column) != list.end();
}

std::string key_of(const CsvRow& row) {
  std::string key;
  for (const auto& [column, text] : row)
    if (!among(not_keys, column) && !among(values, column)) key += column + '=' + text + '\n';
  return key;
}

bool same_values(const Case& a, const Case& b) {
  if (a.measures.size() != b.measures.size() || a.measures.empty()) return false;
  for (std::size_t i = 0; i < a.measures.size(); ++i)
    if (std::abs(a.measures[i].measured - b.measures[i].measured) > same * std::abs(a.measures[i].measured))
      return false;
  return true;
}

void mark_duplicates(const CsvTable& table, std::vector<Case>& cases) {
  std::map<std::string, std::vector<std::size_t>> seen;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    std::vector<std::size_t>& earlier = seen[key_of(table.rows[i])];
    const auto twin =
        std::find_if(earlier.begin(), earlier.end(), [&](std::size_t j) { return same_values(cases[j], cases[i]); });
    if (twin == earlier.end()) {
      earlier.push_back(i);
      continue;
    }
    cases[i].fate = Fate::Duplicate;
    cases[i].reason = "repeats an earlier row";
    cases[i].detail = "repeats row " + cases[*twin].id;
    cases[i].scenario.reset();
  }
}

Case case_of(const CsvRow& row, Kind kind, const RowContext& context) {
  switch (kind) {
    case Kind::ServingClosedLoop: return serving_case(row, context);
    case Kind::Published: return published_case(row, context);
    default: return kv_case(row, context);
  }
}

}  // namespace

Kind kind_of(const CsvTable& table, const std::string& place) {
  const auto all = [&table](std::initializer_list<std::string_view> columns) {
    return std::all_of(columns.begin(), columns.end(), [&table](std::string_view c) { return table.has(c); });
  };
  if (all({"id", "model", "gpu", "engine", "parallelism", "isl", "osl", "concurrency", "ttft_ms", "tpot_ms"}))
    return Kind::ServingClosedLoop;
  if (all({"id", "model", "hardware", "n_gpus", "framework", "isl", "osl", "scenario", "metric", "value"}))
    return Kind::Published;
  if (all({"id", "engine", "version", "model", "gpu", "tp", "pp", "weight_dtype", "kv_dtype", "gpu_blocks", "kv_tokens",
           "note", "kv_gib_per_gpu_reported"}))
    return Kind::KvCapacity;
  throw core::InputError(
      place + ":1",
      "these columns are of no known kind of measurement; a closed loop has ttft_ms and tpot_ms, published "
      "figures metric and value, KV capacity gpu_blocks and kv_tokens");
}

std::vector<Case> cases_of(const CsvTable& table, Kind kind, const RowContext& context) {
  std::vector<Case> cases;
  cases.reserve(table.rows.size());
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    cases.push_back(case_of(table.rows[i], kind, context));
    cases.back().line = table.lines[i];
  }
  mark_duplicates(table, cases);
  return cases;
}

}  // namespace servecast::fidelity
