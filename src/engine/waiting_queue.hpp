// The waiting queue of the constant-time engine: requests preempted earlier, newest first, in front of a FIFO of fresh
// ones.
#pragma once

#include "core/time.hpp"
#include "memory/run_pool.hpp"
#include "workload/request.hpp"

#include <cstdint>
#include <vector>

namespace servecast::engine {

// A request between arrival and its seat among the decoders.
struct Candidate {
  workload::RequestId id;
  std::int32_t prompt = 0;
  std::int32_t output = 0;
  std::int32_t limit = 0;      // longest output to expect
  std::int32_t generated = 0;  // > 0 only after preemption
  core::Time last_token;
  memory::RunQueue::Owned run;                           // its freed private blocks, if it was preempted
  memory::RunPool::Table table = memory::RunPool::none;  // of blocks that others may share
  std::int64_t admission = 0;                            // order among the running
  bool was_preempted = false;

  std::int32_t tokens() const { return prompt + generated; }
};

class WaitingQueue {
 public:
  bool empty() const { return preempted_.empty() && first_ == fresh_.size(); }
  std::size_t size() const { return preempted_.size() + fresh_.size() - first_; }

  void push_back(workload::RequestId id, std::int32_t prompt, std::int32_t output, std::int32_t limit,
                 memory::RunPool::Table table) {
    if (first_ > 1024 && first_ * 2 > fresh_.size()) {
      fresh_.erase(fresh_.begin(), fresh_.begin() + static_cast<std::ptrdiff_t>(first_));
      first_ = 0;
    }
    fresh_.push_back({id, prompt, output, limit, table});
  }
  void push_front(const Candidate& candidate) { preempted_.push_back(candidate); }

  Candidate front() const {
    if (!preempted_.empty()) return preempted_.back();
    const Fresh& fresh = fresh_[first_];
    Candidate candidate;
    candidate.id = fresh.id;
    candidate.prompt = fresh.prompt;
    candidate.output = fresh.output;
    candidate.limit = fresh.limit;
    candidate.table = fresh.table;
    return candidate;
  }
  void pop_front() {
    if (!preempted_.empty()) {
      preempted_.pop_back();
    } else if (++first_ == fresh_.size()) {
      fresh_.clear();
      first_ = 0;
    }
  }

 private:
  struct Fresh {
    workload::RequestId id;
    std::int32_t prompt;
    std::int32_t output;
    std::int32_t limit;
    memory::RunPool::Table table;
  };
  std::vector<Candidate> preempted_;
  std::vector<Fresh> fresh_;
  std::size_t first_ = 0;
};

}  // namespace servecast::engine
