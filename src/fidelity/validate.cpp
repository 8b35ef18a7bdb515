#include "fidelity/validate.hpp"

#include "config/closest.hpp"
#include "config/json_writer.hpp"
#include "core/error.hpp"
#include "core/parallel_for.hpp"
#include "fidelity/predict.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <mutex>
#include <set>
#include <tuple>

namespace servecast::fidelity {

namespace {

using Members = std::vector<const Case*>;

Members predicted_cases(const Validation& v) {
  Members out;
  for (const Case& c : v.cases)
    if (c.fate == Fate::Predicted) out.push_back(&c);
  return out;
}

std::vector<std::string> metrics_of(const Members& cases) {
  std::set<std::string> names;
  for (const Case* c : cases)
    for (const Measure& m : c->measures) names.insert(m.metric);
  return {names.begin(), names.end()};
}

std::vector<Pair> pairs_of(const Members& cases, const std::string& metric, bool doubtful) {
  std::vector<Pair> out;
  for (const Case* c : cases)
    for (const Measure& m : c->measures)
      if (m.metric == metric && m.predicted && m.doubt.empty() != doubtful) out.push_back({*m.predicted, m.measured});
  return out;
}

std::vector<MetricAccuracy> accuracies(const Members& cases) {
  std::vector<MetricAccuracy> out;
  for (const std::string& metric : metrics_of(cases)) {
    MetricAccuracy a;
    a.metric = metric;
    a.scored = accuracy_of(pairs_of(cases, metric, false));
    a.doubtful = accuracy_of(pairs_of(cases, metric, true));
    a.rank = a.scored.rank;
    out.push_back(std::move(a));
  }
  return out;
}

void fill_groups(Validation& v, const Members& cases) {
  std::map<std::tuple<std::string, std::string, std::string>, Members> groups;
  for (const Case* c : cases) groups[{c->model, c->gpu, c->engine}].push_back(c);
  for (const auto& [key, members] : groups) {
    Group& g = v.groups.emplace_back();
    std::tie(g.model, g.gpu, g.engine) = key;
    g.stack = members.front()->stack;
    g.match = members.front()->match;
    g.rows = members.size();
    g.metrics = accuracies(members);
  }
}

// Over unlike groups a rank correlation says little; the mean within groups is what counts.
void rank_within_groups(const Validation& v, std::vector<MetricAccuracy>& all) {
  for (MetricAccuracy& a : all) {
    double sum = 0;
    double weight = 0;
    for (const Group& g : v.groups)
      for (const MetricAccuracy& m : g.metrics)
        if (m.metric == a.metric && m.rank)
          sum += *m.rank * static_cast<double>(m.scored.count), weight += static_cast<double>(m.scored.count);
    a.rank = weight > 0 ? std::optional(sum / weight) : std::nullopt;
  }
}

void check_limits(const std::vector<ErrorLimit>& limits, const std::vector<std::string>& known) {
  core::Problems problems;
  for (const ErrorLimit& limit : limits)
    if (std::find(known.begin(), known.end(), limit.metric) == known.end())
      problems.add("--max-error", "{} is not scored here{}", limit.metric, config::hint(limit.metric, known));
  problems.raise_if_any();
}

void summarise(Validation& v) {
  for (const Case& c : v.cases) {
    if (c.fate == Fate::Predicted) ++v.predicted;
    if (c.fate == Fate::Duplicate) ++v.duplicates;
    if (c.fate == Fate::Refused) ++v.refused[c.reason];
    if (c.fate == Fate::Context) ++v.context[c.reason];
  }
  const Members cases = predicted_cases(v);
  fill_groups(v, cases);
  v.all = accuracies(cases);
  rank_within_groups(v, v.all);
  std::map<std::string, Members> by_match;
  for (const Case* c : cases)
    by_match[c->match == scenario::Match::Exact     ? "exact"
             : c->match == scenario::Match::Nearest ? "nearest"
                                                    : "unversioned"]
        .push_back(c);
  for (const auto& [match, members] : by_match) v.by_match[match] = accuracies(members);
}

}  // namespace

Validation validate(const CsvTable& table, const std::string& place, const ValidateOptions& options) {
  Validation v;
  v.file = place;
  v.kind = kind_of(table, place);
  if (table.rows.empty()) throw core::InputError(place, "the file has no rows");
  const std::vector<scenario::Stack> stacks = scenario::built_in_stacks();
  v.cases = cases_of(table, v.kind, {stacks, options.series_clients});
  check_limits(options.limits, metrics_of(predicted_cases(v)));
  std::vector<Case*> work;
  for (Case& c : v.cases)
    if (c.fate == Fate::Predicted) work.push_back(&c);
  StepTimesCache cache;
  std::mutex mutex;
  std::size_t done = 0;
  core::parallel_for(work.size(), options.threads, [&](std::size_t i) {
    if (options.stop != nullptr && options.stop->load(std::memory_order_relaxed)) {
      work[i]->refuse(std::string(not_reached));
      return;
    }
    predict(*work[i], cache);
    const std::lock_guard lock(mutex);
    ++done;
    if (options.progress) options.progress(done, work.size());
  });
  v.interrupted = done < work.size();
  v.configurations = cache.size();
  summarise(v);
  return v;
}

Validation validate_file(const std::string& path, const ValidateOptions& options) {
  return validate(load_csv(path), path, options);
}

std::string scenario_of_line(const std::string& path, std::int64_t line, bool series_clients) {
  const CsvTable table = load_csv(path);
  const std::vector<scenario::Stack> stacks = scenario::built_in_stacks();
  const std::string place = fmt::format("{}:{}", path, line);
  for (const Case& c : cases_of(table, kind_of(table, path), {stacks, series_clients})) {
    if (static_cast<std::int64_t>(c.line) != line) continue;
    if (!c.scenario) throw core::InputError(place, c.detail.empty() ? "no run predicts this row" : c.detail);
    return config::write(*c.scenario);
  }
  throw core::InputError(place, "no row of the table is on this line");
}

std::vector<Worst> worst_rows(const Validation& v, std::size_t n) {
  std::vector<Worst> all;
  for (const Case& c : v.cases)
    for (const Measure& m : c.measures)
      if (c.fate == Fate::Predicted && m.predicted && m.doubt.empty()) all.push_back({&c, &m});
  // An error of the logarithm treats half and double alike.
  const auto badness = [](const Worst& w) { return std::abs(std::log(*w.measure->predicted / w.measure->measured)); };
  std::stable_sort(all.begin(), all.end(), [&](const Worst& a, const Worst& b) { return badness(a) > badness(b); });
  all.resize(std::min(n, all.size()));
  return all;
}

ErrorLimit error_limit(const std::string& text) {
  ErrorLimit limit;
  const std::size_t equals = text.find('=');
  limit.metric = text.substr(0, equals);
  const char* const end = text.data() + text.size();
  const char* const start = equals == std::string::npos ? end : text.data() + equals + 1;
  const auto [stop, error] = std::from_chars(start, end, limit.percent);
  if (start == end || error != std::errc{} || stop != end || limit.percent < 0)
    throw core::InputError("--max-error", fmt::format("\"{}\" is not METRIC=PERCENT, as in tpot_ms=6", text));
  return limit;
}

std::vector<std::string> exceeded(const Validation& v, const std::vector<ErrorLimit>& limits) {
  std::vector<std::string> out;
  for (const ErrorLimit& limit : limits) {
    const auto found =
        std::find_if(v.all.begin(), v.all.end(), [&](const MetricAccuracy& a) { return a.metric == limit.metric; });
    if (found == v.all.end() || found->scored.count == 0)
      out.push_back(fmt::format("threshold failed: no row predicts {}", limit.metric));
    else if (100 * found->scored.median > limit.percent)
      out.push_back(fmt::format("threshold failed: median error of {} is {:.1f} %, at most {:g} %", limit.metric,
                                100 * found->scored.median, limit.percent));
  }
  return out;
}

}  // namespace servecast::fidelity
