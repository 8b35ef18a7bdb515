// The class behind sglang_loop.hpp, shared by the files that implement it: the loop, forming a prefill step, and the
// tiers below the GPU (SGLang's hierarchical cache).
#pragma once

#include "engine/config.hpp"
#include "engine/new_token_ratio.hpp"
#include "engine/offload_links.hpp"
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
  std::span<const Transfer> transfers() const override { return links_.transfers(); }

 private:
  // Pages that a waiting request has read from storage into the host.
  struct Prefetch {
    enum class State : std::uint8_t { None, Running, Over } state = State::None;
    core::Time asked, begin;           // of the request, of its turn on the link
    std::int64_t from = 0, pages = 0;  // of its prompt
  };
  struct Sequence : SequenceState {
    std::int32_t limit = 0;      // longest output to expect
    std::int32_t prefilled = 0;  // tokens of a completed prefill that the cache has not seen yet
    std::int64_t shared = 0;     // leading pages held through the cache
    std::int64_t own = 0;        // pages held beside it
    memory::RadixCache::NodeId node = memory::RadixCache::root;  // ends the shared pages; locked
    std::int64_t cached = 0;  // pages the cache held at the last ordering of the queue
    bool postponed = false;   // waits for another waiting request to compute their common prefix
    Prefetch prefetch;
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
  Verdict start(std::size_t place, PrefillBudget& budget);
  void begin(Owned sequence, std::int32_t tokens);
  Verdict verdict(const PrefillBudget& budget) const;
  bool decode(core::Time now, bool may_retract);
  std::int64_t pages_to_decode() const;
  void make_room(core::Time now);
  void retract(Owned sequence, core::Time now);
  void remember(Sequence& s, std::int32_t tokens, bool partial = false);
  void release(Sequence& s);
  void settle();
  void emit_decodes();
  void finish_prefills();

  bool hosted() const { return config_.offload_blocks > 0; }
  void begin_tiers(core::Time now);
  void ask(Sequence& s, core::Time now);
  bool may_start(Sequence& s);
  void end_prefetch(Sequence& s, std::int64_t pages);
  core::Time prefetch_end(const Sequence& s, bool complete) const;
  bool load_back(memory::RadixCache::Found& hit);
  void count_tier_hits(const Sequence& s, std::int64_t from);
  void copy_out(core::Time at);
  void play_tiers();
  core::Time wake(core::Time now) const;

  Config config_;
  const cost::StepCost& cost_;
  Observer& observer_;
  memory::RadixPool pool_;
  std::int32_t window_;
  NewTokenRatio ratio_;
  std::deque<Owned> waiting_;
  std::vector<Owned> running_;      // decoding, in order of their prefills
  std::vector<Owned> prefill_;      // of this step
  std::vector<Sequence*> unasked_;  // of waiting_: storage has not been asked about them
  Owned chunked_;                   // the one prompt that is computed in part
  bool full_ = false;               // nothing is admitted before a request has left
  bool shrunk_ = false;             // one has, since the last decode step
  bool unsettled_ = false;  // some of running_ has ended or completed its prompt, which the scheduler does not know
  bool decoding_ = false;   // this step has decodes
  bool in_progress_ = false;
  std::int64_t held_ = 0;  // pages of all requests, each counting what it shares as its own
  OffloadLinks links_;
  core::Time now_;                         // of the schedule in progress
  core::Time asked_;                       // when the copies not yet known to the links were asked for
  std::int64_t loads_ = 0;                 // pages of this step, from the host
  std::int64_t copied_ = 0, written_ = 0;  // of the cache's copies: those the links know of
  std::int64_t prefetching_ = 0;           // pages
  core::Time out_, write_;                 // when the copies asked for so far are there
  cost::StepShape shape_;
  cost::StepTime step_;
  Run run_;
  Totals totals_;
};

}  // namespace servecast::engine
