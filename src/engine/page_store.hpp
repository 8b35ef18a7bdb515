// Pages of one pool behind the tables of several groups: what a grouped KV cache asks of whoever keeps them. Two do:
// block_store page by page, whatever content requests share; count_store by counting, where no request shares any.
// Pages of a group are numbered from the sequence's first token; they are given back the last first, group by group.
#pragma once

#include "engine/kv_kinds.hpp"
#include "engine/sequence.hpp"
#include "memory/block_pool.hpp"

#include <cstdint>
#include <vector>

namespace servecast::engine {

// Pages that a sequence gave back: [lo, hi) of every group of a kind, those before `full` with content.
struct GivenPages {
  std::int32_t kind = 0;
  std::int32_t lo = 0, hi = 0;
  std::int32_t full = 0;
  std::int64_t serial = 0;  // of the first page of the first group, in order of giving
  std::int32_t stride = 0;  // from one group to the next
};

// What a sequence holds. Pages [first, end) of every group of a kind; of a state the last one and perhaps an older one.
struct PageTable {
  struct Kind {
    std::int32_t first = 0;
    std::int32_t end = 0;
    std::int32_t older = -1;     // state: page of the state before the last one
    std::int32_t published = 0;  // leading pages whose content is known to others
  };
  std::int32_t room = 0;        // tokens that need no new page
  std::int32_t free_at = 0;     // settled tokens from which a page may go back
  std::int32_t publish_at = 0;  // computed tokens that fill the next page
  std::vector<Kind> kinds;
  std::vector<std::vector<memory::BlockId>> ids;  // block_store: by group and page, -1 where nothing is held
  std::vector<GivenPages> given;                  // count_store
  bool retired = false;                           // of a request that has ended
};

class PageStore {
 public:
  virtual ~PageStore() = default;
  virtual std::int64_t free() const = 0;
  virtual std::int64_t cached() const = 0;
  virtual std::int64_t references() const = 0;  // of all pages, each as often as it is held

  // Every group of the kind has the page of the sequence's content.
  virtual bool holds(const SequenceState& s, const PageTable& t, std::size_t kind, std::int32_t page) const = 0;
  // Pages [lo, hi) of every group are to be taken; returns how many of them nobody holds. Requires: holds() them.
  virtual std::int64_t plan(const SequenceState& s, const PageTable& t, std::size_t kind, std::int32_t lo,
                            std::int32_t hi) = 0;
  virtual void forget_plan() = 0;
  // Takes what was planned. Requires: nothing has changed since.
  virtual void take_planned(PageTable& t) = 0;
  // New pages [lo, hi) of every group. Requires: as many are free.
  virtual void append(PageTable& t, std::size_t kind, std::int32_t lo, std::int32_t hi) = 0;
  // Content of pages [lo, hi) of every group is known from now on.
  virtual void publish(const SequenceState& s, PageTable& t, std::size_t kind, std::int32_t lo, std::int32_t hi) = 0;
  // Gives pages [lo, hi) of every group back, and after each group's its page `older`, unless -1.
  virtual void drop(PageTable& t, std::size_t kind, std::int32_t lo, std::int32_t hi, std::int32_t older) = 0;
};

}  // namespace servecast::engine
