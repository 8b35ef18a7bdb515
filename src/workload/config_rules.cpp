// Rules between keys. Ranges of single keys are in describe().
#include "workload/config.hpp"
#include "workload/lengths.hpp"

#include <fmt/core.h>

#include <cmath>

namespace servecast::workload {

namespace {

std::string_view name_of(Process process) { return process_names[static_cast<std::size_t>(process)]; }
std::string_view name_of(Distribution law) { return distribution_names[static_cast<std::size_t>(law)]; }

bool has_mean_rate(Process process) {
  return process == Process::Poisson || process == Process::Gamma || process == Process::Weibull ||
         process == Process::Constant || process == Process::Diurnal;
}

void check_piecewise(const std::vector<RatePoint>& points, const Complain& complain) {
  if (points.empty()) return complain("piecewise", "process piecewise needs a list of {from_s, rate_per_s}");
  if (points.front().from_s != 0) {
    complain("piecewise", fmt::format("the first point starts at {} s; it must start at 0", points.front().from_s));
  }
  for (std::size_t i = 1; i < points.size(); ++i) {
    if (points[i].from_s > points[i - 1].from_s) continue;
    complain("piecewise", fmt::format("point {} starts at {} s, not after the point before it ({} s)", i,
                                      points[i].from_s, points[i - 1].from_s));
  }
  for (const RatePoint& point : points) {
    if (point.rate_per_s > 0) return;
  }
  complain("piecewise", "every rate is 0; no request would ever arrive");
}

void check_mmpp(const std::vector<MmppState>& states, const Complain& complain) {
  if (states.size() < 2)
    return complain("mmpp", "process mmpp needs at least two states of {rate_per_s, mean_dwell_s}");
  for (const MmppState& state : states) {
    if (state.rate_per_s > 0) return;
  }
  complain("mmpp", "every state has rate 0; no request would ever arrive");
}

void check_bounds(const LengthConfig& c, const Complain& complain) {
  if (c.min && c.max && *c.min > *c.max) {
    complain("min", fmt::format("min {} is above max {}", *c.min, *c.max));
  }
}

void check_lognormal(const LengthConfig& c, const Complain& complain) {
  if (!c.mean) return complain("mean", "distribution lognormal needs mean and p99 (or sigma)");
  if (c.p99.has_value() == c.sigma.has_value()) {
    return complain("p99", "distribution lognormal needs exactly one of p99 and sigma");
  }
  if (c.p99 && !lognormal_sigma(*c.mean, *c.p99)) return complain("p99", lognormal_refusal(*c.mean, *c.p99));
  // Beyond, nearly every length is the shortest, and the mean that is drawn has nothing to do with the one stated.
  const double widest = std::sqrt(2 * std::log(2 * *c.mean));
  if (c.sigma && *c.sigma > widest)
    return complain("sigma", fmt::format("sigma {:g} puts the median of a mean of {:g} below half a token; from 0 to "
                                         "{:.3g} is possible",
                                         *c.sigma, *c.mean, std::floor(widest * 100) / 100));
  const Lognormal law = lognormal(c);
  if (c.min && c.max && *c.min > *c.max) return;
  if (law.high - law.low < 1e-9) {
    complain("min", "the bounds leave less than one draw in 1e9 of the lognormal law; widen min and max");
  }
}

void check_values(const LengthConfig& c, const Complain& complain) {
  if (!c.weights.empty() && c.weights.size() != c.values.size()) {
    return complain("weights", fmt::format("the numbers of weights ({}) and values ({}) differ", c.weights.size(),
                                           c.values.size()));
  }
  for (std::size_t i = 0; i < c.values.size(); ++i) {
    const bool inside = (!c.min || c.values[i] >= *c.min) && (!c.max || c.values[i] <= *c.max);
    if (inside && (c.weights.empty() || c.weights[i] > 0)) return;
  }
  complain("values", "no value with a weight above 0 lies within min and max");
}

void check_points(const LengthConfig& c, const Complain& complain) {
  const std::vector<CdfPoint>& points = c.points;
  for (std::size_t i = 1; i < points.size(); ++i) {
    if (points[i].tokens <= points[i - 1].tokens || points[i].fraction < points[i - 1].fraction) {
      return complain("points", fmt::format("point {} does not lie after the point before it; tokens must rise and "
                                            "fractions must not fall",
                                            i));
    }
  }
  if (points.back().fraction != 1) {
    return complain("points", fmt::format("the last fraction is {}; it must be 1", points.back().fraction));
  }
  if (c.min && c.max && *c.min > *c.max) return;
  if (cdf_high(c) - cdf_low(c) < 1e-9) complain("points", "no length lies within min and max");
}

void check_empirical(const LengthConfig& c, const Complain& complain) {
  if (c.values.empty() == c.points.empty()) {
    return complain("values", "distribution empirical needs exactly one of values and points");
  }
  c.values.empty() ? check_points(c, complain) : check_values(c, complain);
}

void check_foreign(const LengthConfig& c, const Complain& complain) {
  const auto belongs = [&](bool given, Distribution to, std::string_view key) {
    if (given && c.distribution != to) {
      complain(key, fmt::format("{} belongs to distribution {}, not {}", key, name_of(to), name_of(c.distribution)));
    }
  };
  belongs(c.value.has_value(), Distribution::Fixed, "value");
  belongs(c.mean.has_value(), Distribution::Lognormal, "mean");
  belongs(c.p99.has_value(), Distribution::Lognormal, "p99");
  belongs(c.sigma.has_value(), Distribution::Lognormal, "sigma");
  belongs(!c.values.empty(), Distribution::Empirical, "values");
  belongs(!c.weights.empty(), Distribution::Empirical, "weights");
  belongs(!c.points.empty(), Distribution::Empirical, "points");
  if (c.distribution == Distribution::Fixed && (c.min || c.max)) {
    complain("min", "a fixed length has no bounds; remove min and max");
  }
}

void check_lengths_given(const WorkloadConfig& c, const Complain& complain) {
  const bool needs_input = c.arrivals || c.closed_loop;
  const bool needs_output = needs_input || c.sessions;
  if (needs_input && c.joint.empty() && !c.input_tokens) complain("", "input_tokens (or joint) is missing");
  if (needs_output && c.joint.empty() && !c.output_tokens) complain("", "output_tokens is missing");
  if (!c.joint.empty()) {
    if (!needs_input) complain("joint", "joint lengths belong to arrivals or closed_loop");
    if (c.input_tokens || c.output_tokens) complain("joint", "give joint, or input_tokens and output_tokens, not both");
    double weight = 0;
    for (const JointLength& pair : c.joint) weight += pair.weight;
    if (!(weight > 0)) complain("joint", "every weight is 0");
  }
  if (c.trace && (c.input_tokens || c.output_tokens)) {
    complain(c.input_tokens ? "input_tokens" : "output_tokens", "a trace brings its own lengths; remove this key");
  }
  if (c.sessions && c.input_tokens) {
    complain("input_tokens", "sessions take first_input_tokens and followup_input_tokens instead");
  }
  if (c.samples && c.beam) complain("samples", "a beam search states its sequences as beam/width; remove samples");
  if (c.sessions && (c.beam || c.samples.value_or(1) > 1))
    complain(c.beam ? "beam" : "samples", "a conversation goes on with one answer; remove this key or the sessions");
  if (c.shared_prefix && !needs_input) complain("shared_prefix", "shared_prefix belongs to arrivals or closed_loop");
}

void check_end(const WorkloadConfig& c, const Complain& complain) {
  if (c.arrivals && !c.requests && (!c.duration_s || c.arrivals->process == Process::AllAtOnce)) {
    complain("", c.duration_s ? "process all-at-once needs requests" : "requests or duration_s is missing");
  }
  if (c.closed_loop) {
    if (c.requests) complain("requests", "a closed loop states its requests as closed_loop/requests");
    if (!c.closed_loop->requests && !c.duration_s) complain("", "closed_loop/requests or duration_s is missing");
  }
  if (c.sessions && !c.sessions->count && !c.requests && !c.duration_s) {
    complain("", "one of sessions/count, requests and duration_s is missing");
  }
}

}  // namespace

void check(const ArrivalsConfig& c, const Complain& complain) {
  const std::string process(name_of(c.process));
  if (has_mean_rate(c.process) && !c.rate_per_s) complain("rate_per_s", "process " + process + " needs rate_per_s");
  if (!has_mean_rate(c.process) && c.rate_per_s) complain("rate_per_s", "process " + process + " takes no rate_per_s");
  const bool renewal = c.process == Process::Gamma || c.process == Process::Weibull;
  if (c.cv && !renewal) complain("cv", "cv belongs to process gamma or weibull, not " + process);
  if (c.burstiness && c.process != Process::Gamma)
    complain("burstiness", "burstiness belongs to process gamma, not " + process);
  if (c.process == Process::Gamma && c.cv.has_value() == c.burstiness.has_value()) {
    complain("cv", "process gamma needs exactly one of cv and burstiness");
  }
  if (c.process == Process::Weibull && !c.cv) complain("cv", "process weibull needs cv");
  if (c.process == Process::Weibull && c.cv && (*c.cv < 0.01 || *c.cv > 30)) {
    complain("cv", fmt::format("cv {} is outside [0.01, 30] for process weibull; use gamma", *c.cv));
  }
  if (c.process == Process::Piecewise) check_piecewise(c.piecewise, complain);
  if (c.process == Process::Mmpp) check_mmpp(c.mmpp, complain);
  if (c.process != Process::Piecewise && !c.piecewise.empty()) {
    complain("piecewise", "piecewise belongs to process piecewise, not " + process);
  }
  if (c.process != Process::Mmpp && !c.mmpp.empty()) complain("mmpp", "mmpp belongs to process mmpp, not " + process);
  if (c.process != Process::Diurnal && c.diurnal)
    complain("diurnal", "diurnal belongs to process diurnal, not " + process);
}

void check(const LengthConfig& c, const Complain& complain) {
  check_foreign(c, complain);
  check_bounds(c, complain);
  switch (c.distribution) {
    case Distribution::Fixed:
      if (!c.value) complain("value", "distribution fixed needs value");
      return;
    case Distribution::Uniform:
      if (!c.min || !c.max) complain(c.min ? "max" : "min", "distribution uniform needs min and max");
      return;
    case Distribution::Lognormal: return check_lognormal(c, complain);
    case Distribution::Empirical: return check_empirical(c, complain);
  }
}

void check(const TurnsConfig& c, const Complain& complain) {
  if (c.distribution == Turns::Fixed && c.mean != std::floor(c.mean)) {
    complain("mean", fmt::format("a fixed number of turns must be whole, not {}", c.mean));
  }
}

void check(const ThinkTimeConfig& c, const Complain& complain) {
  if (c.distribution != Think::Lognormal) {
    if (c.p99_s) complain("p99_s", "p99_s belongs to distribution lognormal");
    return;
  }
  if (!c.p99_s || !(c.mean_s > 0)) return complain("p99_s", "distribution lognormal needs p99_s and a mean_s above 0");
  if (!lognormal_sigma(c.mean_s, *c.p99_s)) complain("p99_s", lognormal_refusal(c.mean_s, *c.p99_s));
}

void check(const SessionsConfig& c, const Complain& complain) {
  if (c.arrivals.process == Process::AllAtOnce && !c.count)
    complain("count", "process all-at-once needs sessions/count");
}

void check(const WorkloadConfig& c, const Complain& complain) {
  check_lengths_given(c, complain);
  check_end(c, complain);
  if (c.trace) {
    if (c.trace->empty()) complain("trace", "the path is empty");
    return;
  }
  if (c.format != TraceFormat::Auto) complain("format", "format belongs to trace");
  if (c.rate_scale != 1) complain("rate_scale", "rate_scale belongs to trace; change the arrivals' rate instead");
  if (c.spread_ticks) complain("spread_ticks", "spread_ticks belongs to trace");
  if (c.limit) complain("limit", "limit belongs to trace; use requests");
  if (c.sessions && c.overlong && *c.overlong == Overlong::Truncate) {
    complain("overlong",
             "a session cannot be truncated without losing its shared prefix; use error or reject "
             "(reject ends the session there)");
  }
}

}  // namespace servecast::workload
