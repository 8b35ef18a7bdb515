// What the clients do, as the scenario states it: when requests arrive and how long they are. Lengths are tokens, rates
// are per second of simulated time. Exactly one of arrivals, trace, closed_loop and sessions is given.
#pragma once

#include "config/fields.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace servecast::workload {

enum class Process { Poisson, Gamma, Weibull, Constant, Piecewise, Diurnal, Mmpp, AllAtOnce };
inline constexpr std::array<std::string_view, 8> process_names = {"poisson",   "gamma",   "weibull", "constant",
                                                                  "piecewise", "diurnal", "mmpp",    "all-at-once"};
constexpr std::span<const std::string_view> names_of(Process) { return process_names; }

// A rate that holds from an instant to the next point, the last one for ever.
struct RatePoint {
  double from_s = 0;
  double rate_per_s = 0;
};

// rate(t) = rate_per_s * (1 + amplitude * sin(2 pi (t / period_s + phase))).
struct DiurnalConfig {
  double amplitude = 0.5;
  double period_s = 86400;
  double phase = 0;  // fraction of a period
};

// One state of a Markov-modulated Poisson process; states follow one another in the order listed, cyclically.
struct MmppState {
  double rate_per_s = 0;
  double mean_dwell_s = 1;
};

struct ArrivalsConfig {
  Process process = Process::Poisson;
  std::optional<double> rate_per_s;  // mean rate
  std::optional<double> cv;          // gamma, weibull: coefficient of variation of the gaps
  std::optional<double> burstiness;  // gamma: its shape, 1 / cv^2
  std::vector<RatePoint> piecewise;
  std::optional<DiurnalConfig> diurnal;
  std::vector<MmppState> mmpp;
};

enum class Distribution { Fixed, Uniform, Lognormal, Empirical };
inline constexpr std::array<std::string_view, 4> distribution_names = {"fixed", "uniform", "lognormal", "empirical"};
constexpr std::span<const std::string_view> names_of(Distribution) { return distribution_names; }

// A point of a cumulative distribution: `fraction` of the lengths are <= tokens; linear in between.
struct CdfPoint {
  std::int32_t tokens = 1;
  double fraction = 0;
};

struct LengthConfig {
  Distribution distribution = Distribution::Fixed;
  std::optional<std::int32_t> value;  // fixed
  std::optional<std::int32_t> min;    // uniform: ends of the range; otherwise bounds, draws outside are drawn again
  std::optional<std::int32_t> max;
  std::optional<double> mean;  // lognormal, before bounds and rounding
  std::optional<double> p99;
  std::optional<double> sigma;       // instead of p99
  std::vector<std::int32_t> values;  // empirical
  std::vector<double> weights;
  std::vector<CdfPoint> points;  // empirical, instead of values
};

// A pair of lengths that occur together.
struct JointLength {
  std::int32_t input = 1;
  std::int32_t output = 1;
  double weight = 1;
};

struct ClosedLoopConfig {
  std::int64_t concurrency = 1;
  std::optional<std::int64_t> requests;
};

enum class Turns { Geometric, Fixed };
inline constexpr std::array<std::string_view, 2> turns_names = {"geometric", "fixed"};
constexpr std::span<const std::string_view> names_of(Turns) { return turns_names; }

struct TurnsConfig {
  Turns distribution = Turns::Geometric;
  double mean = 4;  // fixed: the number of turns itself
};

enum class Think { Exponential, Lognormal, Fixed };
inline constexpr std::array<std::string_view, 3> think_names = {"exponential", "lognormal", "fixed"};
constexpr std::span<const std::string_view> names_of(Think) { return think_names; }

struct ThinkTimeConfig {
  Think distribution = Think::Exponential;
  double mean_s = 30;
  std::optional<double> p99_s;  // lognormal
};

// Conversations: the prompt of a turn is the system prompt, every earlier turn and the new input.
struct SessionsConfig {
  ArrivalsConfig arrivals;  // of sessions
  std::optional<std::int64_t> count;
  TurnsConfig turns;
  ThinkTimeConfig think_time;
  std::int32_t system_prompt_tokens = 0;
  std::int64_t applications = 1;  // each has a system prompt of its own
  double zipf = 1;                // exponent of the applications' popularity
  LengthConfig first_input_tokens;
  LengthConfig followup_input_tokens;
};

// Synthetic prefix sharing: `share` of the requests begin with the prefix of one of `families`.
struct SharedPrefixConfig {
  std::int64_t families = 1;
  std::int32_t tokens = 1;
  double share = 1;
  double zipf = 0;  // exponent of the families' popularity, 0: equal
};

// Beam search of `width`; see engine/branching.hpp for the law of ancestors.
struct BeamConfig {
  std::int32_t width = 4;
  double turnover = 0.1;  // assumed: nothing public says how often beams of a real search are replaced
};

enum class TraceFormat { Auto, Azure, Mooncake, Burstgpt, Bailian, Splitwise, Servecast };
inline constexpr std::array<std::string_view, 7> trace_format_names = {"auto",    "azure",     "mooncake", "burstgpt",
                                                                       "bailian", "splitwise", "servecast"};
constexpr std::span<const std::string_view> names_of(TraceFormat) { return trace_format_names; }

enum class Overlong { Error, Truncate, Reject };
inline constexpr std::array<std::string_view, 3> overlong_names = {"error", "truncate", "reject"};
constexpr std::span<const std::string_view> names_of(Overlong) { return overlong_names; }

struct WorkloadConfig {
  std::optional<ArrivalsConfig> arrivals;
  std::optional<std::string> trace;  // path
  std::optional<ClosedLoopConfig> closed_loop;
  std::optional<SessionsConfig> sessions;

  std::optional<LengthConfig> input_tokens;
  std::optional<LengthConfig> output_tokens;
  std::vector<JointLength> joint;  // instead of both
  std::optional<SharedPrefixConfig> shared_prefix;
  std::optional<std::int32_t> samples;  // sequences of each request (parallel sampling)
  std::optional<BeamConfig> beam;

  TraceFormat format = TraceFormat::Auto;
  double rate_scale = 1;
  bool spread_ticks = false;
  std::optional<std::int64_t> limit;  // rows of the trace

  std::optional<std::int64_t> requests;
  std::optional<double> duration_s;
  std::optional<Overlong> overlong;
};

void describe(config::Fields& f, RatePoint& c);
void describe(config::Fields& f, DiurnalConfig& c);
void describe(config::Fields& f, MmppState& c);
void describe(config::Fields& f, ArrivalsConfig& c);
void describe(config::Fields& f, CdfPoint& c);
void describe(config::Fields& f, LengthConfig& c);
void describe(config::Fields& f, JointLength& c);
void describe(config::Fields& f, ClosedLoopConfig& c);
void describe(config::Fields& f, TurnsConfig& c);
void describe(config::Fields& f, ThinkTimeConfig& c);
void describe(config::Fields& f, SessionsConfig& c);
void describe(config::Fields& f, SharedPrefixConfig& c);
void describe(config::Fields& f, BeamConfig& c);
void describe(config::Fields& f, WorkloadConfig& c);

// Rules between the keys of one object; every breach is told to `complain` with the key it concerns ("" for several).
using Complain = std::function<void(std::string_view key, const std::string& message)>;
void check(const ArrivalsConfig& c, const Complain& complain);
void check(const LengthConfig& c, const Complain& complain);
void check(const ThinkTimeConfig& c, const Complain& complain);
void check(const TurnsConfig& c, const Complain& complain);
void check(const SessionsConfig& c, const Complain& complain);  // its own keys only, not those of nested objects
void check(const WorkloadConfig& c, const Complain& complain);  // likewise

// Most arrivals per second that a document may state, and the largest rate_scale of a trace.
inline constexpr double max_rate = 1e9;
inline constexpr double max_rate_scale = 1e6;

// Largest factor that scale_rate() may take without leaving these.
double rate_room(const WorkloadConfig& c);

// Multiplies every rate by `factor` (a trace's time is divided by it). False, and no change, where no rate exists: a
// closed loop, all at once.
bool scale_rate(WorkloadConfig& c, double factor);

// Long-run mean rate of an arrival process, per second; infinite for all-at-once, of the last rate for piecewise.
double mean_rate(const ArrivalsConfig& c);

}  // namespace servecast::workload
