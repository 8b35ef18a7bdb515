#include "workload/length_gate.hpp"

#include "core/error.hpp"

#include <limits>

namespace servecast::workload {

LengthGate::LengthGate(Overlong policy, std::int32_t max_model_len, SourceReport& report)
    : policy_(policy),
      limit_(max_model_len > 0 ? max_model_len : std::numeric_limits<std::int32_t>::max()),
      report_(&report) {
  if (limit_ < 2) throw core::InputError("max_model_len", "1 token leaves no room for an output; give at least 2");
}

void LengthGate::refuse(std::int64_t prompt, std::int64_t output, const Origin& origin) const {
  const std::string place = origin.file ? fmt::format("{}:{}", *origin.file, origin.number)
                                        : fmt::format("workload: request {}", origin.number);
  throw core::InputError(place,
                         fmt::format("{} input and {} output tokens exceed max_model_len {}; raise max_model_len "
                                     "or set overlong to truncate or reject",
                                     prompt, output, limit_));
}

bool LengthGate::fit(std::int32_t& prompt, std::int32_t& output, const Origin& origin) {
  switch (policy_) {
    case Overlong::Error: refuse(prompt, output, origin);
    case Overlong::Reject: ++report_->rejected_overlong; return false;
    case Overlong::Truncate: break;
  }
  ++report_->clipped_requests;
  if (prompt > limit_ - 1) {
    prompt = static_cast<std::int32_t>(limit_ - 1);
    ++report_->clipped_inputs;
  }
  if (output > limit_ - prompt) {
    output = static_cast<std::int32_t>(limit_ - prompt);
    ++report_->clipped_outputs;
  }
  return true;
}

}  // namespace servecast::workload
