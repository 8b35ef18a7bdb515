#include "workload/config.hpp"

#include "core/time.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace servecast::workload {

namespace {

constexpr double max_tokens = 2147483647;
constexpr double max_requests = 4294967294;  // ids are 32 bits and one value is reserved
constexpr double max_run_s = core::longest_run_s;
// Engines take milliseconds a step: a state that lasts less cannot be told from the mean of all states.
constexpr double shortest_dwell_s = 1e-3;
// The clumpiest gaps that cv can state, too.
constexpr double least_burstiness = 1e-4;

template <typename T>
void apply_rules(config::Fields& f, const T& c) {
  if (f.reading()) check(c, [&f](std::string_view key, const std::string& message) { f.problem(key, message); });
}

}  // namespace

void describe(config::Fields& f, RatePoint& c) {
  f.required("from_s", c.from_s, config::closed(0, max_run_s), "start of this rate, seconds");
  f.required("rate_per_s", c.rate_per_s, config::closed(0, max_rate), "arrivals per second from then on");
}

void describe(config::Fields& f, DiurnalConfig& c) {
  f.field("amplitude", c.amplitude, config::closed(0, 1), "swing of the rate as a fraction of its mean");
  f.field("period_s", c.period_s, config::above(0, max_run_s), "length of a cycle, seconds");
  f.field("phase", c.phase, config::closed(-1, 1), "fraction of a cycle already past at time 0");
}

void describe(config::Fields& f, MmppState& c) {
  f.required("rate_per_s", c.rate_per_s, config::closed(0, max_rate), "arrivals per second in this state");
  f.required("mean_dwell_s", c.mean_dwell_s, config::closed(shortest_dwell_s, max_run_s),
             "mean stay in this state, exponential, seconds");
}

void describe(config::Fields& f, ArrivalsConfig& c) {
  f.required("process", c.process, "how arrivals follow one another");
  f.field("rate_per_s", c.rate_per_s, config::above(0, max_rate), "mean arrivals per second");
  f.field("cv", c.cv, config::above(0, 100), "gamma, weibull: coefficient of variation of the gaps");
  f.field("burstiness", c.burstiness, config::closed(least_burstiness, 1e6),
          "gamma: shape of the gaps, 1 / cv^2; instead of cv");
  f.field("piecewise", c.piecewise, "piecewise: rates by start time, the first at 0");
  f.field("diurnal", c.diurnal, "diurnal: sinusoid around rate_per_s");
  f.field("mmpp", c.mmpp, "mmpp: states of a Markov-modulated Poisson process, visited in turn");
  apply_rules(f, c);
}

void describe(config::Fields& f, CdfPoint& c) {
  f.required("tokens", c.tokens, config::closed(1, max_tokens), "length");
  f.required("fraction", c.fraction, config::closed(0, 1), "fraction of lengths that are not longer");
}

void describe(config::Fields& f, LengthConfig& c) {
  f.required("distribution", c.distribution, "law of the length");
  f.field("value", c.value, config::closed(1, max_tokens), "fixed: the length");
  f.field("min", c.min, config::closed(1, max_tokens), "uniform: shortest; otherwise shorter draws are drawn again");
  f.field("max", c.max, config::closed(1, max_tokens), "uniform: longest; otherwise longer draws are drawn again");
  f.field("mean", c.mean, config::closed(1, max_tokens), "lognormal: mean, before bounds");
  f.field("p99", c.p99, config::closed(1, max_tokens), "lognormal: 99th percentile, before bounds");
  f.field("sigma", c.sigma, config::closed(0, 10), "lognormal: standard deviation of the logarithm; instead of p99");
  f.field("values", c.values, config::closed(1, max_tokens), "empirical: lengths that occur");
  f.field("weights", c.weights, config::closed(0, 1e18), "empirical: weight of each value; omit for equal weights");
  f.field("points", c.points, "empirical: points of the cumulative distribution; instead of values");
  apply_rules(f, c);
}

void describe(config::Fields& f, JointLength& c) {
  f.required("input", c.input, config::closed(1, max_tokens), "prompt length");
  f.required("output", c.output, config::closed(1, max_tokens), "output length");
  f.field("weight", c.weight, config::closed(0, 1e18), "relative frequency");
}

void describe(config::Fields& f, ClosedLoopConfig& c) {
  f.required("concurrency", c.concurrency, config::closed(1, 1e6), "clients, each with one request at a time");
  f.field("requests", c.requests, config::closed(1, max_requests), "requests in all");
}

void describe(config::Fields& f, TurnsConfig& c) {
  f.field("distribution", c.distribution, "law of the number of turns");
  f.field("mean", c.mean, config::closed(1, 1e6), "mean number of turns (fixed: the number)");
  apply_rules(f, c);
}

void describe(config::Fields& f, ThinkTimeConfig& c) {
  f.field("distribution", c.distribution, "law of the pause between an answer and the next turn");
  f.field("mean_s", c.mean_s, config::closed(0, max_run_s), "mean pause, seconds");
  f.field("p99_s", c.p99_s, config::above(0, max_run_s), "lognormal: 99th percentile, seconds");
  apply_rules(f, c);
}

void describe(config::Fields& f, SessionsConfig& c) {
  f.required("arrivals", c.arrivals, "arrivals of new sessions");
  f.field("count", c.count, config::closed(1, max_requests), "sessions in all");
  f.field("turns", c.turns, "turns of a session");
  f.field("think_time", c.think_time, "pause before each turn but the first");
  f.field("system_prompt_tokens", c.system_prompt_tokens, config::closed(0, max_tokens),
          "prompt that every session of an application begins with");
  f.field("applications", c.applications, config::closed(1, 1e6), "applications, each with its own system prompt");
  f.field("zipf", c.zipf, config::closed(0, 20), "exponent of the applications' popularity");
  f.required("first_input_tokens", c.first_input_tokens, "user input of the first turn");
  f.required("followup_input_tokens", c.followup_input_tokens, "user input of every later turn");
  apply_rules(f, c);
}

void describe(config::Fields& f, SharedPrefixConfig& c) {
  f.field("families", c.families, config::closed(1, 1e6), "distinct prefixes");
  f.required("tokens", c.tokens, config::closed(1, max_tokens), "length of a prefix; shorter prompts lie inside it");
  f.field("share", c.share, config::closed(0, 1), "fraction of requests that begin with a shared prefix");
  f.field("zipf", c.zipf, config::closed(0, 20), "exponent of the families' popularity, 0 for equal");
}

void describe(config::Fields& f, BeamConfig& c) {
  f.required("width", c.width, config::closed(1, 256), "sequences kept after every step");
  f.field("turnover", c.turnover, config::closed(0, 1),
          "probability, for each beam and step, to continue another beam, chosen uniformly; 0: beams never meet");
}

void describe(config::Fields& f, WorkloadConfig& c) {
  f.field("arrivals", c.arrivals, "open loop: requests arrive whatever the system does");
  f.field("trace", c.trace, "file to replay; .gz and .xz are read as they are");
  f.field("closed_loop", c.closed_loop, "a fixed number of clients, each waiting for its answer");
  f.field("sessions", c.sessions, "multi-turn conversations with think time");
  f.field("input_tokens", c.input_tokens, "prompt lengths");
  f.field("output_tokens", c.output_tokens, "output lengths");
  f.field("joint", c.joint, "pairs of input and output length; instead of input_tokens and output_tokens");
  f.field("shared_prefix", c.shared_prefix, "prefixes that requests share");
  f.field("samples", c.samples, config::closed(1, 256), "sequences that each request grows from its prompt (n)");
  f.field("beam", c.beam, "each request is a beam search");
  f.field("format", c.format, "trace: its format; auto looks at the first line");
  f.field("rate_scale", c.rate_scale, config::above(0, max_rate_scale), "trace: arrival times are divided by it");
  f.field("spread_ticks", c.spread_ticks, "trace: spread equal arrival times uniformly up to the next tick");
  f.field("limit", c.limit, config::closed(1, max_requests), "trace: read this many rows at most");
  f.field("requests", c.requests, config::closed(1, max_requests), "stop after this many requests");
  f.field("duration_s", c.duration_s, config::above(0, max_run_s), "no request arrives after this time");
  f.field("overlong", c.overlong, "a request longer than max_model_len: stop with an error, cut it, or leave it out");
  constexpr std::array<std::string_view, 4> forms = {"arrivals", "trace", "closed_loop", "sessions"};
  f.exactly_one_of(forms, true);
  apply_rules(f, c);
}

namespace {

bool scale_rate(ArrivalsConfig& c, double factor) {
  if (c.process == Process::AllAtOnce) return false;
  if (c.rate_per_s) *c.rate_per_s *= factor;
  for (RatePoint& point : c.piecewise) point.rate_per_s *= factor;
  for (MmppState& state : c.mmpp) state.rate_per_s *= factor;
  return true;
}

}  // namespace

double rate_room(const WorkloadConfig& c) {
  if (c.trace) return max_rate_scale / c.rate_scale;
  const ArrivalsConfig* arrivals = c.arrivals ? &*c.arrivals : c.sessions ? &c.sessions->arrivals : nullptr;
  if (arrivals == nullptr) return 1;
  double most = arrivals->rate_per_s.value_or(0);
  for (const RatePoint& point : arrivals->piecewise) most = std::max(most, point.rate_per_s);
  for (const MmppState& state : arrivals->mmpp) most = std::max(most, state.rate_per_s);
  return most > 0 ? max_rate / most : 1;
}

bool scale_rate(WorkloadConfig& c, double factor) {
  if (c.arrivals) return scale_rate(*c.arrivals, factor);
  if (c.sessions) return scale_rate(c.sessions->arrivals, factor);
  if (c.trace) c.rate_scale *= factor;
  return c.trace.has_value();
}

double mean_rate(const ArrivalsConfig& c) {
  if (c.process == Process::AllAtOnce) return std::numeric_limits<double>::infinity();
  if (c.process == Process::Piecewise) return c.piecewise.empty() ? 0 : c.piecewise.back().rate_per_s;
  if (c.process != Process::Mmpp) return c.rate_per_s.value_or(0);
  double arrivals = 0;
  double time = 0;
  for (const MmppState& state : c.mmpp) {
    arrivals += state.rate_per_s * state.mean_dwell_s;
    time += state.mean_dwell_s;
  }
  return time > 0 ? arrivals / time : 0;
}

}  // namespace servecast::workload
