// A source that plays a list of requests, and a closed loop over the same list: for tests of engines and clusters.
#pragma once

#include "workload/source.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace servecast::test {

class ScriptedSource final : public workload::Source {
 public:
  explicit ScriptedSource(std::vector<workload::Request> requests) : requests_(std::move(requests)) {}
  core::Time next_arrival() override {
    return next_ < requests_.size() ? requests_[next_].arrival : core::Time::never();
  }
  workload::Request take() override { return requests_[next_++]; }

 private:
  std::vector<workload::Request> requests_;
  std::size_t next_ = 0;
};

// `concurrency` requests at time zero, the next one `think` after each end.
class LoopingSource final : public workload::Source {
 public:
  LoopingSource(std::vector<workload::Request> requests, std::size_t concurrency, core::Duration think)
      : requests_(std::move(requests)), think_(think) {
    for (std::size_t i = 0; i < std::min(concurrency, requests_.size()); ++i) due_.push_back({0});
  }
  core::Time next_arrival() override { return due_.empty() ? core::Time::never() : due_.front(); }
  workload::Request take() override {
    workload::Request request = requests_[next_++];
    request.arrival = due_.front();
    due_.erase(due_.begin());
    return request;
  }
  void ended(workload::RequestId, core::Time now) override {
    if (next_ + due_.size() < requests_.size()) due_.push_back(now + think_);
  }
  bool reacts() const override { return true; }

 private:
  std::vector<workload::Request> requests_;
  core::Duration think_;
  std::size_t next_ = 0;
  std::vector<core::Time> due_;
};

inline workload::Request request(std::uint32_t id, std::int64_t arrival_ps, std::int32_t prompt, std::int32_t output) {
  workload::Request r;
  r.id = {id};
  r.arrival = {arrival_ps};
  r.prompt_tokens = prompt;
  r.hidden.output_tokens = output;
  return r;
}

}  // namespace servecast::test
