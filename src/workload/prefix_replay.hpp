// What prefix caches of given sizes would have hit of a trace, without simulating who serves it. The cache counts in
// the trace's own blocks. The rule: a request looks up its leading blocks, then the whole prompt enters the cache at
// once, the last block first, and the least recently used blocks beyond the capacity leave; outputs are not cached.
// So of a chain the leaf is evicted first. One pass over the file; memory is the capacities' sum.
#pragma once

#include "workload/config.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace servecast::workload {

// Blocks of a cache, by identity; least recently used first out. Capacity 0: unlimited.
class PrefixLru {
 public:
  explicit PrefixLru(std::int64_t capacity);
  ~PrefixLru();
  PrefixLru(PrefixLru&&) noexcept;
  PrefixLru& operator=(PrefixLru&&) noexcept;

  // Leading ids that the cache holds; then holds all of them, within its capacity.
  std::int64_t access(std::span<const std::uint64_t> ids);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

struct PrefixReplay {
  std::int64_t capacity = 0;    // blocks; 0: unlimited
  std::int64_t hit_blocks = 0;  // partial last blocks of prompts included
  std::int64_t hit_tokens = 0;  // of whole blocks, at most all tokens of a prompt but the last: what an engine can use
};

struct PrefixReplays {
  std::int32_t block_tokens = 0;
  std::int64_t blocks = 0;  // looked up
  std::int64_t tokens = 0;  // of the prompts
  std::vector<PrefixReplay> caches;
};

// One cache per capacity, in the order given. Throws core::InputError where the trace has no prefix ids.
PrefixReplays replay_prefixes(const std::string& path, TraceFormat format, std::span<const std::int64_t> capacities);

}  // namespace servecast::workload
