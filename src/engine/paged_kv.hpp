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

struct PagedSequence : SequenceState {
  std::int32_t published = 0;  // leading blocks whose content is registered
  std::size_t piece = 0;       // content piece of the next block to publish
  std::int64_t reserved = 0;   // blocks its longest output would take
  std::vector<memory::BlockId> blocks;
};

// What a sequence finds before it starts: leading blocks of the pool, then of the tiers below.
struct PrefixHits {
  std::int64_t blocks = 0;
  std::int64_t host_blocks = 0;
  std::int32_t tokens = 0;
};

class PagedKv {
 public:
  explicit PagedKv(const Config& config);

  // Blocks that the sequence would take with its longest output.
  std::int64_t longest(const SequenceState& s) const;

  // Cached blocks of the sequence, at most all tokens but the last. Valid until the pool changes.
  PrefixHits find(const PagedSequence& s);
  // Whether a sequence that found these may start with its first `tokens` tokens. promised: blocks that others may
  // still ask for. alone: nothing runs.
  bool admits(const PagedSequence& s, const PrefixHits& hits, std::int32_t tokens, std::int64_t promised,
              bool alone) const;
  // Takes what was found, and blocks for s.computed tokens. Requires: admits(), with the same hits.
  void start(PagedSequence& s, const PrefixHits& hits);
  // Blocks for the first `tokens` tokens; false and unchanged when the pool cannot give them.
  bool grow(PagedSequence& s, std::int32_t tokens);
  // What is computed becomes content that others may hit.
  void publish(PagedSequence& s);
  void release(PagedSequence& s);

  const memory::BlockPool& pool() const { return pool_; }
  PrefixOffload& offload() { return offload_; }
  const PrefixOffload& offload() const { return offload_; }

 private:
  std::int64_t find_host(const PagedSequence& s, std::int64_t from);
  void load(const PagedSequence& s, const PrefixHits& hits);

  bool caching_, whole_prompt_, no_evict_, offloads_;
  std::int32_t block_size_, max_model_len_;
  std::int64_t watermark_;  // blocks
  memory::BlockPool pool_;
  PrefixOffload offload_;
  std::vector<memory::BlockId> hits_;
  std::vector<memory::Tier> tiers_;  // where the host blocks found were
};

}  // namespace servecast::engine
