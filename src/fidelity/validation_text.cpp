// A validation for people: on a terminal, and as Markdown for a document.
#include "core/units.hpp"
#include "fidelity/validate.hpp"
#include "report/figures.hpp"
#include "report/table.hpp"

#include <fmt/format.h>

namespace servecast::fidelity {

namespace {

constexpr std::size_t wide = 140;

std::string pct(double share) { return fmt::format("{:.1f}", 100 * share); }
std::string signed_pct(double share) { return fmt::format("{:+.1f}", 100 * share); }
std::string rank_text(const std::optional<double>& rank) { return rank ? fmt::format("{:.3f}", *rank) : "-"; }
std::string match_text(scenario::Match m) {
  return m == scenario::Match::Exact ? "exact" : m == scenario::Match::Nearest ? "nearest" : "unversioned";
}

std::vector<std::string> accuracy_cells(const MetricAccuracy& a) {
  if (a.scored.count == 0) return {a.metric, "0", "-", "-", "-", "-", fmt::format("{}", a.doubtful.count)};
  return {a.metric,
          fmt::format("{}", a.scored.count),
          pct(a.scored.median),
          pct(a.scored.p90),
          signed_pct(a.scored.bias),
          rank_text(a.rank),
          fmt::format("{}", a.doubtful.count)};
}

using Rows = std::vector<std::vector<std::string>>;

const std::vector<std::string> accuracy_titles = {"metric", "rows", "median %", "p90 %", "bias %", "rank", "doubtful"};

Rows overall_rows(const Validation& v) {
  Rows rows;
  const auto add = [&rows](const std::string& what, const std::vector<MetricAccuracy>& metrics) {
    for (const MetricAccuracy& a : metrics) {
      rows.push_back({what});
      for (std::string& cell : accuracy_cells(a)) rows.back().push_back(std::move(cell));
    }
  };
  add("all", v.all);
  for (const auto& [match, metrics] : v.by_match) add("stack " + match, metrics);
  return rows;
}

Rows group_rows(const Validation& v) {
  Rows rows;
  for (const Group& g : v.groups)
    for (const MetricAccuracy& a : g.metrics) {
      rows.push_back({g.model, g.gpu, g.engine, fmt::format("{} ({})", g.stack, match_text(g.match))});
      for (std::string& cell : accuracy_cells(a)) rows.back().push_back(std::move(cell));
    }
  return rows;
}

Rows worst_table(const Validation& v, std::size_t n) {
  Rows rows;
  for (const Worst& w : worst_rows(v, n)) {
    const Breakdown& b = w.row->breakdown;
    rows.push_back({std::to_string(w.row->line), w.row->model + " " + w.row->gpu + " " + w.row->engine, w.row->shape,
                    w.measure->metric, report::figure(*w.measure->predicted), report::figure(w.measure->measured),
                    signed_pct(w.measure->error()),
                    b.limiting.empty() ? "-"
                                       : fmt::format("{:.0f}/{:.0f}/{:.0f}/{:.0f} {}", 100 * b.compute, 100 * b.memory,
                                                     100 * b.network, 100 * b.host, b.limiting)});
  }
  return rows;
}

std::vector<std::string> with(std::vector<std::string> front, const std::vector<std::string>& back) {
  front.insert(front.end(), back.begin(), back.end());
  return front;
}
const std::vector<std::string> worst_titles = {
    "line", "row", "shape", "metric", "predicted", "measured", "error %", "compute/memory/network/host %, limit"};

// The first `left` columns hold text.
std::string plain(const std::vector<std::string>& titles, const Rows& rows, std::size_t left, bool text_last = false) {
  std::vector<report::Column> columns;
  for (std::size_t i = 0; i < titles.size(); ++i)
    columns.push_back(
        {titles[i], i < left || (text_last && i + 1 == titles.size()) ? report::Align::Left : report::Align::Right});
  report::Table table(std::move(columns));
  for (const auto& row : rows) table.row(row);
  return table.text(2, wide);
}

std::string markdown(const std::vector<std::string>& titles, const Rows& rows) {
  std::string text = "|";
  for (const std::string& t : titles) text += " " + t + " |";
  text += "\n|";
  for (std::size_t i = 0; i < titles.size(); ++i) text += "---|";
  text += "\n";
  for (const auto& row : rows) {
    text += "|";
    for (const std::string& cell : row) text += " " + cell + " |";
    text += "\n";
  }
  return text;
}

Rows count_rows(const std::map<std::string, std::size_t, std::less<>>& counts) {
  Rows rows;
  for (const auto& [reason, n] : counts) rows.push_back({fmt::format("{}", n), reason});
  return rows;
}

std::string headline(const Validation& v) {
  std::size_t refused = 0;
  std::size_t context = 0;
  std::size_t left = 0;
  for (const auto& [reason, n] : v.refused) (reason == not_reached ? left : refused) += n;
  for (const auto& [reason, n] : v.context) context += n;
  return fmt::format("{} of {}: {} predicted, {} refused, {}, {} context{}",
                     core::counted(static_cast<std::int64_t>(v.cases.size()), "row"),
                     kind_names[static_cast<std::size_t>(v.kind)], v.predicted, refused,
                     core::counted(static_cast<std::int64_t>(v.duplicates), "duplicate"), context,
                     left > 0 ? fmt::format(", {} not reached", left) : "");
}

}  // namespace

std::string validation_text(const Validation& v, std::size_t worst) {
  std::string text = headline(v) + "\n";
  if (v.interrupted) text += "interrupted: the figures cover the rows predicted so far\n";
  if (!v.refused.empty()) text += "\nRefused\n" + plain({"rows", "reason"}, count_rows(v.refused), 0, true);
  if (!v.context.empty()) text += "\nContext, not scored\n" + plain({"rows", "kind"}, count_rows(v.context), 0, true);
  if (v.predicted == 0) return text;
  text += "\nErrors (absolute; bias: median signed; rank: Spearman within each group)\n" +
          plain(with({""}, accuracy_titles), overall_rows(v), 2);
  text += "\nBy model, GPU and engine\n" +
          plain(with({"model", "gpu", "engine", "stack"}, accuracy_titles), group_rows(v), 5);
  if (worst > 0) text += "\nFurthest off\n" + plain(worst_titles, worst_table(v, worst), 4, true);
  return text;
}

std::string validation_markdown(const Validation& v, std::size_t worst) {
  std::string text = headline(v) + ".\n";
  if (!v.refused.empty()) text += "\n" + markdown({"refused rows", "reason"}, count_rows(v.refused));
  if (!v.context.empty()) text += "\n" + markdown({"context rows", "kind"}, count_rows(v.context));
  if (v.predicted == 0) return text;
  text += "\n" + markdown(with({""}, accuracy_titles), overall_rows(v));
  text += "\n" + markdown(with({"model", "gpu", "engine", "stack"}, accuracy_titles), group_rows(v));
  if (worst > 0) text += "\n" + markdown(worst_titles, worst_table(v, worst));
  return text;
}

}  // namespace servecast::fidelity
