// Blocks of sequences over one pool, as a step-by-step scheduler asks for them: what of a prompt is cached, whether a
// request may start, room for its next tokens, what is published, what goes back. It knows no order of requests, no
// budget of tokens and no time.
#pragma once

#include "engine/config.hpp"
#include "engine/prefix_offload.hpp"
#include "engine/sequence.hpp"
#include "memory/block_pool.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace servecast::engine {

// What a sequence finds before it starts: leading blocks of the pool, then of the tiers below.
struct PrefixHits {
  std::int64_t blocks = 0;
  std::int64_t host_blocks = 0;
  std::int32_t tokens = 0;
};

class PagedKv {
 public:
  // What a sequence holds.
  struct Table {
    std::vector<memory::BlockId> blocks;
    std::int32_t published = 0;  // leading blocks whose content is registered
    std::size_t piece = 0;       // content piece of the next block to publish
  };

  explicit PagedKv(const Config& config);

  // Blocks that the sequence would take with its longest output, and those that it holds.
  std::int64_t longest(const SequenceState& s) const;
  std::int64_t held(const Table& t) const { return static_cast<std::int64_t>(t.blocks.size()); }

  // Of a simulated step, and of each pass of the scheduler in it.
  void begin_step() { offload_.begin(); }
  void begin_pass() {}
  // Adds to the step what moving blocks takes.
  void play(core::Time now, cost::StepTime& step, Totals& totals) {
    if (offloads_) offload_.play(now, step, totals);
  }
  // Moves what start() found below the GPU beside the steps, from now on; returns when it is there. Without it, play()
  // holds the step up.
  core::Time fetch(core::Time now) { return offload_.fetch(now); }
  std::span<const Transfer> transfers() const { return offload_.transfers(); }
  std::int64_t on_host() const { return offload_.tiers().host_held(); }
  std::int64_t on_storage() const { return offload_.tiers().storage_held(); }

  // Cached blocks of the sequence, at most all tokens but the last. Valid until the pool changes.
  PrefixHits find(const SequenceState& s, const Table& t);
  // Tokens of [from, from + n) that may be computed in one step.
  std::int32_t split(const SequenceState&, std::int32_t, std::int32_t n) const { return n; }
  // Whether a sequence that found these may start with its first `tokens` tokens. promised: blocks that others may
  // still ask for. alone: nothing runs.
  bool admits(const SequenceState& s, const Table& t, const PrefixHits& hits, std::int32_t tokens,
              std::int64_t promised, bool alone) const;
  // Takes what was found, and blocks for s.computed tokens. Requires: admits(), with the same hits.
  void start(const SequenceState& s, Table& t, const PrefixHits& hits);
  // Blocks for the first `tokens` tokens; false and unchanged when the pool cannot give them.
  bool grow(const SequenceState& s, Table& t, std::int32_t tokens);
  // What is computed becomes content that others may hit.
  void publish(const SequenceState& s, Table& t);
  void retire(Table&) {}  // the request has ended; its blocks stay a while
  void release(Table& t);

  std::int64_t used() const { return pool_.used(); }
  std::int64_t cached() const { return pool_.cached(); }
  std::int64_t total() const { return pool_.total(); }
  std::int64_t references() const { return pool_.references(); }
  // computed: tokens of all sequences that hold blocks.
  SlotUse slots(std::int64_t computed) const { return paged_use(used(), references(), computed, block_size_); }

 private:
  std::int64_t find_host(const SequenceState& s, std::int64_t from);
  void load(const SequenceState& s, const PrefixHits& hits);

  bool caching_, whole_prompt_, no_evict_, offloads_;
  std::int32_t block_size_, max_model_len_;
  std::int64_t watermark_;  // blocks
  memory::BlockPool pool_;
  PrefixOffload offload_;
  std::vector<memory::BlockId> hits_;
  std::vector<memory::Tier> tiers_;  // where the host blocks found were
};

}  // namespace servecast::engine
