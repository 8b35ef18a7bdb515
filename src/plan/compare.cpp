#include "plan/compare.hpp"

#include "config/json_writer.hpp"
#include "core/error.hpp"
#include "core/output_analysis.hpp"
#include "core/parallel_for.hpp"
#include "core/statistics.hpp"
#include "report/result_json.hpp"
#include "scenario/run.hpp"

#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <utility>

namespace servecast::plan {

namespace {

struct Metric {
  const char* pointer;
  const char* unit;
  bool lower_is_better;
};
constexpr Metric metrics[] = {
    {"/latency/ttft_ms/mean", "ms", true},
    {"/latency/ttft_ms/p50", "ms", true},
    {"/latency/ttft_ms/p99", "ms", true},
    {"/latency/tpot_ms/mean", "ms", true},
    {"/latency/tpot_ms/p99", "ms", true},
    {"/latency/e2e_ms/mean", "ms", true},
    {"/latency/e2e_ms/p99", "ms", true},
    {"/throughput/requests_per_s", "1/s", false},
    {"/throughput/output_tokens_per_s", "tokens/s", false},
    {"/throughput/output_tokens_per_s_per_gpu", "tokens/s", false},
    {"/goodput_requests_per_s", "1/s", false},
    {"/slo_attainment", "", false},
    {"/load_factor", "", true},
    {"/energy/joules_per_output_token", "J", true},
    {"/cost/usd_per_million_output_tokens", "USD", true},
};

using Documents = std::vector<config::Document>;

std::vector<Difference> differences(const Documents& a, const Documents& b) {
  std::vector<Difference> out;
  for (const Metric& m : metrics) {
    std::vector<double> va;
    std::vector<double> vb;
    for (std::size_t i = 0; i < a.size(); ++i) {
      const auto x = a[i].number(m.pointer);
      const auto y = b[i].number(m.pointer);
      if (x && y) va.push_back(*x), vb.push_back(*y);
    }
    if (va.size() != a.size()) continue;  // a figure that one of them lacks
    Difference d = paired(va, vb);
    d.metric = m.pointer;
    d.unit = m.unit;
    d.lower_is_better = m.lower_is_better;
    out.push_back(std::move(d));
  }
  return out;
}

struct Side {
  scenario::Resolved resolved;
  std::shared_ptr<const scenario::StepTimes> times;
};

// One replication, as the text of its result; empty when interrupted.
std::string replicate(const Side& side, std::uint32_t seed, const std::atomic<bool>* stop) {
  scenario::Resolved r = side.resolved;
  r.scenario.seed = seed;
  scenario::RunOptions options;
  options.times = side.times;
  options.stop = stop;
  const scenario::RunOutcome outcome = scenario::run(r, options);
  return outcome.interrupted ? "" : report::result_json(outcome.result);
}

void warn_of_unlike(const scenario::Resolved& a, const scenario::Resolved& b, Comparison& out) {
  if (config::write(a.scenario.workload) != config::write(b.scenario.workload))
    out.warnings.emplace_back("the workloads differ: the differences include the traffic's");
  if (a.scenario.workload.trace || b.scenario.workload.trace)
    out.warnings.emplace_back(
        "a trace has no seed: replications of it are alike, and the intervals cover none of its chance");
}

void add_state(const config::Document& d, const std::string& name, Comparison& out) {
  for (const char* state : {"overloaded", "backlogged", "infeasible"})
    if (d.text().find(fmt::format("\"verdict\":\"{}\"", state)) != std::string::npos)
      out.states.push_back(fmt::format("{} is {}", name, state));
  if (d.text().find("\"conclusive\":false") != std::string::npos)
    out.states.push_back(fmt::format("{} is too short to tell", name));
}

}  // namespace

bool Difference::clear() const { return half_width ? std::abs(difference()) > *half_width : a != b; }

Difference paired(const std::vector<double>& a, const std::vector<double>& b) {
  SERVECAST_ENSURE(!a.empty() && a.size() == b.size(), "{} values against {}", a.size(), b.size());
  core::Running mean_a;
  core::Running mean_b;
  core::Running gap;
  for (std::size_t i = 0; i < a.size(); ++i) {
    mean_a.add(a[i]);
    mean_b.add(b[i]);
    gap.add(b[i] - a[i]);
  }
  Difference d;
  d.a = mean_a.mean();
  d.b = mean_b.mean();
  if (a.size() > 1)
    d.half_width = core::student_t95(a.size() - 1) * std::sqrt(gap.sample_variance() / static_cast<double>(a.size()));
  return d;
}

Comparison compare_scenarios(const scenario::Resolved& a, const scenario::Resolved& b, const CompareOptions& options) {
  Comparison out;
  out.a = a.scenario.name;
  out.b = b.scenario.name;
  out.replications = options.replications;
  for (const scenario::Resolved* r : {&a, &b})
    if (out.problem.empty()) out.problem = scenario::fit_all(*r).problem;
  if (!out.problem.empty()) return out;
  warn_of_unlike(a, b, out);
  std::vector<Side> sides;
  for (const scenario::Resolved* r : {&a, &b})
    sides.push_back({*r, std::make_shared<const scenario::StepTimes>(scenario::make_step_times(*r, 0))});
  const auto n = static_cast<std::size_t>(options.replications);
  std::vector<std::string> texts(2 * n);
  core::parallel_for(2 * n, options.threads, [&](std::size_t i) {
    texts[i] = replicate(sides[i % 2], static_cast<std::uint32_t>(i / 2 + 1), options.stop);
  });
  Documents docs[2];
  for (std::size_t i = 0; i + 1 < texts.size(); i += 2) {
    if (texts[i].empty() || texts[i + 1].empty()) {
      out.interrupted = true;
      continue;
    }
    for (std::size_t side = 0; side < 2; ++side)
      docs[side].push_back(config::Document::from_text(texts[i + side], "result"));
  }
  out.replications = static_cast<std::int32_t>(docs[0].size());
  if (docs[0].empty()) return out;
  add_state(docs[0][0], "A", out);
  add_state(docs[1][0], "B", out);
  out.differences = differences(docs[0], docs[1]);
  return out;
}

Comparison compare_results(const config::Document& a, const config::Document& b, std::string name_a,
                           std::string name_b) {
  Comparison out;
  out.a = std::move(name_a);
  out.b = std::move(name_b);
  add_state(a, "A", out);
  add_state(b, "B", out);
  out.warnings.emplace_back("stored results carry one replication each: chance is not told from cause");
  out.differences = differences({a}, {b});
  return out;
}

bool is_result(const config::Document& document) {
  return document.contains("/verdict") && document.contains("/requests");
}

}  // namespace servecast::plan
