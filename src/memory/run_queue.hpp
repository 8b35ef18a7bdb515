// The free queue of a pool as runs of blocks instead of blocks, in exactly BlockPool's order: least recently freed
// first, and of a chain the tail before the head. A run lists its blocks tail first, so what is taken from the queue's
// head shortens a run from its end, and what remains is always a prefix.
//
// Runs are private (of content nobody else has; only a request preempted earlier can find its own again) or pieces of
// a shared chain, whose content RunPool knows. Runs that hold nothing merge. Counts in blocks.
#pragma once

#include <cstdint>
#include <vector>

namespace servecast::memory {

// Blocks [lo, hi) of a chain, all in the same state. Private runs have no chain; theirs are counted from 0.
struct BlockRun {
  std::int32_t lo = 0;
  std::int32_t hi = 0;
  std::int32_t full = 0;  // private: leading blocks that hold content
  std::int32_t chain = -1;
  std::int32_t references = 0;
  std::int32_t previous = -1, next = -1;  // free queue
  std::int32_t older = -1, newer = -1;    // copies of the same content
  std::int32_t rest = -1;                 // what was split off behind it
  std::int64_t stamp = 0;                 // private: tells whose run it is, 0: nobody's
  std::int32_t blocks() const { return hi - lo; }
};

class RunQueue {
 public:
  // A preempted request's own blocks in the queue; stale once they are gone.
  struct Owned {
    std::int32_t run = -1;
    std::int64_t stamp = 0;
  };

  explicit RunQueue(std::int64_t blocks) { give(blocks, 0); }

  std::int64_t free() const { return free_; }
  std::int64_t cached() const { return cached_; }  // free blocks that hold content

  // Frees private blocks, of which the first `full` hold content that nobody will look up again.
  void give(std::int64_t blocks, std::int64_t full) {
    if (blocks == 0) return;
    if (full == 0 && tail_ >= 0 && mergeable(at(tail_))) {
      at(tail_).hi += static_cast<std::int32_t>(blocks);
      free_ += blocks;
      return;
    }
    append_private(blocks, full, 0);
  }
  // The same for a preempted request, which may look its full blocks up.
  Owned give_owned(std::int64_t blocks, std::int64_t full) {
    if (blocks == 0) return {};
    return {append_private(blocks, full, ++stamp_), stamp_};
  }
  // Blocks of the owner's chain that can still be hit.
  std::int64_t hittable(const Owned& owned) const {
    if (owned.run < 0 || at(owned.run).stamp != owned.stamp) return 0;
    return at(owned.run).full;
  }
  // Takes the owner's leading `blocks` out of the queue; nobody can look up what is left of the run.
  void hit(const Owned& owned, std::int64_t blocks) {
    if (owned.run < 0 || at(owned.run).stamp != owned.stamp) return;
    BlockRun& run = at(owned.run);
    run.hi -= static_cast<std::int32_t>(blocks);
    run.full -= static_cast<std::int32_t>(blocks);
    run.stamp = 0;
    free_ -= blocks;
    cached_ -= blocks;
    if (run.hi == 0) recycle(owned.run);
  }

 protected:
  BlockRun& at(std::int32_t id) { return runs_[static_cast<std::size_t>(id)]; }
  const BlockRun& at(std::int32_t id) const { return runs_[static_cast<std::size_t>(id)]; }

  std::int32_t make() {
    if (spares_.empty()) {
      runs_.emplace_back();
      return static_cast<std::int32_t>(runs_.size()) - 1;
    }
    const std::int32_t id = spares_.back();
    spares_.pop_back();
    at(id) = {};
    return id;
  }
  void link_before(std::int32_t id, std::int32_t next) {
    BlockRun& run = at(id);
    run.next = next;
    run.previous = next >= 0 ? at(next).previous : tail_;
    (run.previous >= 0 ? at(run.previous).next : head_) = id;
    (next >= 0 ? at(next).previous : tail_) = id;
  }
  void unlink(std::int32_t id) {
    BlockRun& run = at(id);
    (run.previous >= 0 ? at(run.previous).next : head_) = run.next;
    (run.next >= 0 ? at(run.next).previous : tail_) = run.previous;
    run.previous = run.next = -1;
  }
  void recycle(std::int32_t id) {
    unlink(id);
    at(id).stamp = 0;
    spares_.push_back(id);
  }
  // Takes up to `blocks` from the private run at the head; returns how many.
  std::int64_t take_private(std::int64_t blocks) {
    BlockRun& run = at(head_);
    const std::int32_t taken = blocks < run.hi ? static_cast<std::int32_t>(blocks) : run.hi;
    run.hi -= taken;
    if (run.full > run.hi) {
      cached_ -= run.full - run.hi;
      run.full = run.hi;
    }
    if (run.hi == 0) recycle(head_);
    return taken;
  }

  std::vector<BlockRun> runs_;
  std::vector<std::int32_t> spares_;
  std::int32_t head_ = -1, tail_ = -1;
  std::int64_t free_ = 0, cached_ = 0, stamp_ = 0;

 private:
  static bool mergeable(const BlockRun& run) { return run.chain < 0 && run.full == 0 && run.stamp == 0; }
  std::int32_t append_private(std::int64_t blocks, std::int64_t full, std::int64_t stamp) {
    const std::int32_t id = make();
    BlockRun& run = at(id);
    run.hi = static_cast<std::int32_t>(blocks);
    run.full = static_cast<std::int32_t>(full);
    run.stamp = stamp;
    link_before(id, -1);
    free_ += blocks;
    cached_ += full;
    return id;
  }
};

}  // namespace servecast::memory
