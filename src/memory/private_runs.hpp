// The free queue of a pool whose contents nobody shares, kept as runs instead of blocks: a freed request leaves one
// run, and only a request preempted earlier can find its own blocks again. Order and evictions are exactly BlockPool's.
//
// A run lists a chain's blocks tail first, so eviction from the queue's head shortens a chain from its end, and what
// remains of a run is always a prefix of its chain. Runs nobody will ask for again (finished requests) merge.
#pragma once

#include <cstdint>
#include <deque>

namespace servecast::memory {

class PrivateRuns {
 public:
  using RunId = std::int64_t;
  static constexpr RunId none = -1;

  explicit PrivateRuns(std::int64_t blocks) { runs_.push_back({blocks, 0, false}); }

  // Frees `blocks` blocks nobody will look up again.
  void add_anonymous(std::int64_t blocks) {
    if (blocks == 0) return;
    if (!runs_.empty() && !runs_.back().owned)
      runs_.back().blocks += blocks;
    else
      runs_.push_back({blocks, 0, false});
  }
  // Frees a preempted request's blocks, of which the first `full` of the chain hold content.
  RunId add_owned(std::int64_t blocks, std::int64_t full) {
    runs_.push_back({blocks, full, true});
    return first_ + static_cast<RunId>(runs_.size()) - 1;
  }
  // Blocks of the run's chain that can still be hit.
  std::int64_t hittable(RunId id) const {
    if (id < first_) return 0;
    const Run& run = runs_[static_cast<std::size_t>(id - first_)];
    return run.blocks < run.full ? run.blocks : run.full;
  }
  // Takes `blocks` hit blocks out of the run; what is left of it can no longer be looked up.
  void hit(RunId id, std::int64_t blocks) {
    if (id < first_) return;
    Run& run = runs_[static_cast<std::size_t>(id - first_)];
    run.blocks -= blocks;
    run.full = 0;
    run.owned = false;
  }
  // Allocates `blocks` from the head of the queue, evicting what they held. Requires: that many are free.
  void pop(std::int64_t blocks) {
    while (blocks > 0) {
      Run& run = runs_.front();
      if (run.blocks > blocks) {
        run.blocks -= blocks;
        return;
      }
      blocks -= run.blocks;
      run.blocks = 0;
      if (runs_.size() == 1) return;  // keep one run, so that the common path never touches the container
      runs_.pop_front();
      ++first_;
    }
  }

 private:
  struct Run {
    std::int64_t blocks;
    std::int64_t full;
    bool owned;
  };
  std::deque<Run> runs_;
  RunId first_ = 0;  // id of runs_.front()
};

}  // namespace servecast::memory
