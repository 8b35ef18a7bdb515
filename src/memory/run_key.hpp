// Content of a token string as runs instead of one key a page: pages [end of the run before, end) belong to `chain`,
// and page j of a chain stands for its own tokens and for everything before them. Ends ascend strictly; neighbours
// differ in chain. A page is whatever unit the cache counts in (a token, a block).
#pragma once

#include <cstdint>
#include <vector>

namespace servecast::memory {

struct Run {
  std::uint64_t chain = 0;
  std::int64_t end = 0;
  bool operator==(const Run&) const = default;
};
using RunKey = std::vector<Run>;

// Appends a run, merging it with an equal neighbour; empty runs are left out.
inline void append_run(RunKey& key, std::uint64_t chain, std::int64_t end) {
  if (end <= (key.empty() ? 0 : key.back().end)) return;
  if (!key.empty() && key.back().chain == chain)
    key.back().end = end;
  else
    key.push_back({chain, end});
}

}  // namespace servecast::memory
