#include "scenario/length_rules.hpp"

#include "workload/lengths.hpp"

#include <algorithm>
#include <limits>

namespace servecast::scenario {
namespace {

std::int64_t shortest(const workload::LengthConfig& c) { return workload::Lengths(c).shortest(); }

void check_sessions(const workload::SessionsConfig& s, std::int64_t output, std::int64_t limit, const PlaceOf& place,
                    core::Problems& problems) {
  const std::int64_t input = shortest(s.first_input_tokens);
  if (s.system_prompt_tokens + input + output <= limit) return;
  const bool by_prompt = s.system_prompt_tokens > 0;
  problems.add(place(by_prompt ? "/workload/sessions/system_prompt_tokens" : "/workload/sessions/first_input_tokens"),
               "no session could begin: {} tokens of system prompt, at least {} of input and {} of output exceed "
               "max_model_len {}; shorten them or raise /pools/0/engine/max_model_len",
               s.system_prompt_tokens, input, output, limit);
}

std::int64_t shortest_pair(const std::vector<workload::JointLength>& joint) {
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (const workload::JointLength& pair : joint)
    if (pair.weight > 0) least = std::min(least, std::int64_t{pair.input} + pair.output);
  return least;
}

}  // namespace

void check_lengths(const workload::WorkloadConfig& w, std::int32_t limit, const PlaceOf& place,
                   core::Problems& problems) {
  if (w.sessions && w.output_tokens)
    return check_sessions(*w.sessions, shortest(*w.output_tokens), limit, place, problems);
  const bool pairs = !w.joint.empty();
  if (!pairs && (!w.input_tokens || !w.output_tokens)) return;
  if (w.overlong == workload::Overlong::Reject) {
    const std::int64_t least = pairs ? shortest_pair(w.joint) : shortest(*w.input_tokens) + shortest(*w.output_tokens);
    if (least > limit)
      problems.add(place("/workload/overlong"),
                   "reject would leave out every request: the shortest has {} tokens, and max_model_len is {}; raise "
                   "/pools/0/engine/max_model_len, or set /workload/overlong to truncate",
                   least, limit);
  }
  if (w.overlong || pairs || shortest(*w.input_tokens) < limit) return;
  problems.add(place("/workload/input_tokens"),
               "every prompt has at least {} tokens, but prompt and output together are limited by max_model_len {}; "
               "raise /pools/0/engine/max_model_len, or set /workload/overlong to truncate or reject",
               shortest(*w.input_tokens), limit);
}

double mean_request_tokens(const workload::WorkloadConfig& w) {
  if (!w.joint.empty()) {
    double tokens = 0;
    double weight = 0;
    for (const workload::JointLength& pair : w.joint) {
      tokens += pair.weight * (static_cast<double>(pair.input) + pair.output);
      weight += pair.weight;
    }
    return weight > 0 ? tokens / weight : 0;
  }
  if (!w.input_tokens || !w.output_tokens) return 0;
  return workload::Lengths(*w.input_tokens).mean() + workload::Lengths(*w.output_tokens).mean();
}

}  // namespace servecast::scenario
