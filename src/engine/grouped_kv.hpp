// The blocks of sequences where a model's layers keep different things: what paged_kv does for one group, for the kinds
// of groups of kv_kinds.hpp over one shared pool. Pages behind a window go back before new ones are taken, once the
// steps that read them have ended; a step that changes no page costs two comparisons a sequence.
#pragma once

#include "engine/config.hpp"
#include "engine/page_store.hpp"
#include "engine/paged_kv.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace servecast::engine {

class GroupedKv {
 public:
  using Table = PageTable;

  // shared_content: requests may begin alike. Requires: kinds, no host tier, capacity policy max_utilization.
  GroupedKv(const Config& config, bool shared_content);

  std::int64_t longest(const SequenceState&) const { return 0; }  // of policies that need it
  std::int64_t held(const Table&) const { return 0; }

  void begin_step() {}
  void begin_pass() { fresh_.clear(); }
  void play(core::Time, cost::StepTime&, Totals&) {}
  core::Time fetch(core::Time now) { return now; }  // nothing is kept below the GPU
  std::int64_t on_host() const { return 0; }
  std::int64_t on_storage() const { return 0; }
  std::span<const Transfer> transfers() const { return {}; }

  PrefixHits find(const SequenceState& s, const Table& t);
  // Tokens of [from, from + n) to compute now: a prompt stops where its state is to be cached. 0: none now.
  std::int32_t split(const SequenceState& s, std::int32_t from, std::int32_t n) const {
    return state_size_ == 0 ? n : split_at_states(s, from, n);
  }
  bool admits(const SequenceState& s, const Table& t, const PrefixHits& hits, std::int32_t tokens,
              std::int64_t promised, bool alone) const;
  void start(const SequenceState& s, Table& t, const PrefixHits& hits);
  bool grow(const SequenceState& s, Table& t, std::int32_t tokens) {
    if (tokens <= t.room && s.settled < t.free_at) return true;
    return turn_pages(s, t, tokens);
  }
  void publish(const SequenceState& s, Table& t) {
    if (caching_ && s.computed >= t.publish_at) publish_pages(s, t);
  }
  // The request has ended; its pages stay a while.
  void retire(Table& t);
  void release(Table& t);

  std::int64_t used() const { return pages_ - store_->free(); }
  std::int64_t cached() const { return store_->cached(); }
  std::int64_t total() const { return pages_; }
  std::int64_t references() const { return store_->references(); }
  // computed: tokens of all sequences that hold pages.
  SlotUse slots(std::int64_t computed) const;

 private:
  struct Found {
    std::int32_t first = 0;
    std::int32_t end = 0;
  };
  Found found(const KvKind& k, std::int32_t tokens) const;
  std::int32_t split_at_states(const SequenceState& s, std::int32_t from, std::int32_t n) const;
  bool turn_pages(const SequenceState& s, Table& t, std::int32_t tokens);
  void skip(const SequenceState& s, Table& t);
  void take(Table& t, std::int32_t tokens);
  void set_marks(Table& t) const;
  void publish_pages(const SequenceState& s, Table& t);
  void drop(Table& t, std::size_t kind, std::int32_t lo, std::int32_t hi, std::int32_t older);

  std::vector<KvKind> kinds_;
  std::vector<std::int32_t> most_;  // pages of a group that a sequence ever holds, by kind
  bool caching_, whole_prompt_;
  std::int32_t block_size_;      // tokens that a page counts as
  std::int32_t state_size_ = 0;  // tokens between cached states, 0: none are
  double slots_a_token_ = 0;
  std::int64_t pages_;
  std::int64_t watermark_;
  std::int64_t skipped_ = 0;  // pages that sequences no longer hold
  std::int64_t whole_ = 0;    // pages that count as full: of states, fixed ones
  std::unique_ptr<PageStore> store_;
  std::int64_t unreferenced_ = 0;     // of the pages found last
  bool too_fresh_ = false;            // found a state that this very step computes
  std::vector<std::uint64_t> fresh_;  // states published in this pass
};

}  // namespace servecast::engine
