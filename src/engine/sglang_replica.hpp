// The class behind sglang_loop.hpp, shared by the files that implement it: the loop, and forming a prefill step.
#pragma once

#include "engine/config.hpp"
#include "engine/new_token_ratio.hpp"
#include "engine/prefill_budget.hpp"
#include "engine/replica.hpp"
#include "engine/sequence.hpp"
#include "memory/radix_pool.hpp"

#include <algorithm>
#include <deque>
#include <memory>
#include <vector>

namespace servecast::engine {

class SglangLoop final : public Replica {
 public:
  SglangLoop(const Config& config, const cost::StepCost& cost, Observer& observer);

  void enqueue(const workload::Request& request, std::int32_t rank) override;
  Run advance(core::Time now, core::Time horizon, const cost::LinkOffer& offer) override;
  Run cut(core::Time) override { return run_; }
  void commit() override;
  bool running() const override { return in_progress_; }
  bool has_work() const override { return !waiting_.empty() || !running_.empty() || !prefill_.empty() || chunked_; }
  Load load(std::int32_t rank) const override;
  SlotUse slots(std::int32_t rank) const override;
  Totals totals() const override { return totals_; }

 private:
  struct Sequence : SequenceState {
    std::int32_t limit = 0;      // longest output to expect
    std::int32_t prefilled = 0;  // tokens of a completed prefill that the cache has not seen yet
    std::int64_t shared = 0;     // leading pages held through the cache
    std::int64_t own = 0;        // pages held beside it
    memory::RadixCache::NodeId node = memory::RadixCache::root;  // ends the shared pages; locked
    std::int64_t cached = 0;  // pages the cache held at the last ordering of the queue
    bool postponed = false;   // waits for another waiting request to compute their common prefix
    std::int32_t counted_output() const { return std::min(std::max(limit - generated, 0), longest_counted_output); }
  };
  using Owned = std::unique_ptr<Sequence>;
  enum class Verdict : std::uint8_t { Go, NoMemory, StepFull };

  std::int64_t pages_for(std::int64_t tokens) const { return blocks_for(tokens, config_.block_size); }
  std::int64_t obtainable_tokens() const { return pool_.obtainable() * config_.block_size; }
  memory::RunKey key_of(const Sequence& s, std::int64_t pages) const;
  std::int32_t seats_left() const { return config_.max_num_seqs - static_cast<std::int32_t>(running_.size()); }

  bool schedule(core::Time now);
  bool form_prefill();
  PrefillBudget budget() const;
  void order_waiting();
  bool continue_chunk(PrefillBudget& budget);
  Verdict start(PrefillBudget& budget);
  void begin(Owned sequence, std::int32_t tokens);
  Verdict verdict(const PrefillBudget& budget) const;
  bool decode(core::Time now, bool may_retract);
  std::int64_t pages_to_decode() const;
  void make_room(core::Time now);
  void retract(Owned sequence, core::Time now);
  void remember(Sequence& s, std::int32_t tokens);
  void release(Sequence& s);
  void settle();
  void emit_decodes();
  void finish_prefills();

  Config config_;
  const cost::StepCost& cost_;
  Observer& observer_;
  memory::RadixPool pool_;
  std::int32_t window_;
  NewTokenRatio ratio_;
  std::deque<Owned> waiting_;
  std::vector<Owned> running_;  // decoding, in order of their prefills
  std::vector<Owned> prefill_;  // of this step
  Owned chunked_;               // the one prompt that is computed in part
  bool full_ = false;           // nothing is admitted before a request has left
  bool shrunk_ = false;         // one has, since the last decode step
  bool unsettled_ = false;      // some of running_ has ended or completed its prompt, which the scheduler does not know
  bool decoding_ = false;       // this step has decodes
  bool in_progress_ = false;
  cost::StepShape shape_;
  cost::StepTime step_;
  Run run_;
  Totals totals_;
};

}  // namespace servecast::engine
