// A request to end early, raised by another thread or a signal handler, that loops of unknown length look at.
#pragma once

#include <atomic>

namespace servecast::workload {

class StopFlag {
 public:
  StopFlag() = default;
  explicit StopFlag(const std::atomic<bool>* flag) : flag_(flag) {}  // may be null: never raised
  bool raised() const { return flag_ != nullptr && flag_->load(std::memory_order_relaxed); }

 private:
  const std::atomic<bool>* flag_ = nullptr;
};

}  // namespace servecast::workload
