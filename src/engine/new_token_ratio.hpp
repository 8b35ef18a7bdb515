// SGLang's estimate of the share of their output limits that running requests will use. Specified by its environ.py and
// scheduler.py: starts high, falls linearly with decode steps to a floor, rises when requests had to be retracted.
#pragma once

#include <algorithm>
#include <cstdint>

namespace servecast::engine {

class NewTokenRatio {
 public:
  explicit NewTokenRatio(double conservativeness)
      : first_(std::min(1.0, start * conservativeness)), floor_(floor_share * first_), now_(first_) {}

  double value() const { return now_; }
  void decode_step() { now_ = std::max(floor_, now_ - (first_ - floor_) / decay_steps); }
  // After a retraction: what the requests that stay have generated, with some steps ahead, of what they may.
  void retracted(std::int64_t generated, std::int64_t limits, std::int64_t requests) {
    const auto expected = static_cast<double>(generated + steps_ahead * requests);
    now_ = std::min(1.0, expected / static_cast<double>(limits + 1));
  }
  void idle() { now_ = first_; }

 private:
  static constexpr double start = 0.7;
  static constexpr double floor_share = 0.14;
  static constexpr double decay_steps = 600;
  static constexpr std::int64_t steps_ahead = 20;

  double first_;
  double floor_;
  double now_;
};

}  // namespace servecast::engine
