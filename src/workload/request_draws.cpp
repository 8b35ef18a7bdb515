#include "workload/request_draws.hpp"

#include "core/error.hpp"

namespace servecast::workload {

namespace {

// Draws in a row that may be left out before the search for one that fits is given up (assumed).
constexpr std::uint64_t hopeless = 1000000;

}  // namespace

RequestDraws::RequestDraws(const WorkloadConfig& c, std::uint64_t seed, LengthGate gate, SourceReport& report)
    : joint_(c.joint),
      input_random_(seed, "workload/input"),
      output_random_(seed, "workload/output"),
      gate_(gate),
      report_(&report) {
  if (joint_.empty()) {
    input_.emplace(*c.input_tokens);
    output_.emplace(*c.output_tokens);
  } else {
    std::vector<double> weights;
    for (const JointLength& pair : joint_) weights.push_back(pair.weight);
    pair_.emplace(weights);
  }
  if (c.shared_prefix) prefix_.emplace(*c.shared_prefix, seed);
}

bool RequestDraws::draw(Request& request) {
  if (pair_) {
    const JointLength& pair = joint_[pair_->at(input_random_.uniform())];
    request.prompt_tokens = pair.input;
    request.hidden.output_tokens = pair.output;
  } else {
    request.prompt_tokens = input_->at(input_random_.uniform_open());
    request.hidden.output_tokens = output_->at(output_random_.uniform_open());
  }
  const bool admitted = gate_.admit(request.prompt_tokens, request.hidden.output_tokens, {nullptr, report_->offered});
  ++report_->offered;
  misses_ = admitted ? 0 : misses_ + 1;
  if (misses_ == hopeless) {
    throw core::InputError("workload", fmt::format("{} requests in a row do not fit max_model_len; raise it or shorten "
                                                   "the lengths",
                                                   misses_));
  }
  if (prefix_) request.content = prefix_->draw(request.prompt_tokens);
  return admitted;
}

}  // namespace servecast::workload
