// A pool of blocks whose content may be shared, kept as runs of blocks: what BlockPool does block by block, in time
// that depends on how often content branches instead of how long it is. Hits, copies, evictions and the order of the
// free queue are exactly BlockPool's; block ids do not exist.
//
// A table is what one request holds: runs of shared chains up to `published`, then private blocks that only their
// number stands for. Where several runs hold the same blocks of a chain (copies, computed at the same time), all have
// the same ends; the oldest answers. Invariants: a run is in the free queue exactly when nobody references it; runs of
// a chain cover disjoint spans. It does not know requests or tokens.
#pragma once

#include "memory/run_key.hpp"
#include "memory/run_queue.hpp"

#include <boost/unordered/unordered_flat_map.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace servecast::memory {

class RunPool : public RunQueue {
 public:
  using Table = std::int32_t;
  static constexpr Table none = -1;

  struct Found {
    std::int64_t blocks = 0;      // leading blocks that the pool holds
    std::int64_t referenced = 0;  // of these, those that somebody holds
  };

  using RunQueue::RunQueue;

  // Allocates private blocks from the head of the queue, evicting what they held. Requires: that many are free.
  void pop(std::int64_t blocks) {
    free_ -= blocks;
    while (blocks > 0) blocks -= at(head_).chain < 0 ? take_private(blocks) : evict(blocks);
  }

  // A table that holds nothing yet, of blocks whose content is key(), empty at first, and `tail` (0: private) behind
  // it.
  Table open(std::uint64_t tail);
  RunKey& key(Table table) { return table_at(table).key; }  // to be filled before anything else
  void close(Table table);                                  // Requires: it holds nothing
  const RunKey& key(Table table) const { return table_at(table).key; }
  std::uint64_t tail(Table table) const { return table_at(table).tail; }
  std::int64_t published(Table table) const { return table_at(table).published; }
  // Blocks of the table that others may share.
  std::int64_t shareable(Table table) const {
    const Holding& t = table_at(table);
    return t.tail != 0 ? endless : t.key.empty() ? 0 : t.key.back().end;
  }

  // Leading shared blocks of the table's content that the pool holds, at most `cap`.
  Found find(Table table, std::int64_t cap);
  // Takes what find() has just found. Requires: the table is empty, and nothing has changed since.
  void retain(Table table);
  // Blocks [published, to) of the table, private so far, now hold their content; those past the shared part stay
  // private.
  void publish(Table table, std::int64_t to);
  // Gives back the table's shared blocks, the last first. Its private blocks, which come before, are give()n first.
  void release(Table table);

  std::size_t tables() const { return tables_.size() - spare_tables_.size(); }
  // Walks every structure and throws LogicError where they disagree. For tests.
  void check() const;

 private:
  static constexpr std::int64_t endless = std::int64_t{1} << 40;

  struct Span {  // blocks [lo, hi) of a chain and their copies
    std::int32_t lo, hi;
    std::int32_t oldest, newest;
  };
  struct Chain {
    std::uint64_t id = 0;
    std::vector<Span> spans;  // ascending
  };
  struct Held {
    std::int32_t run;  // this run and its rests, up to `end`
    std::int32_t end;
  };
  struct Holding {
    RunKey key;
    std::uint64_t tail = 0;
    std::vector<Held> held;
    std::int64_t published = 0;
    bool open = false;
  };
  struct Hit {
    std::int32_t run, from, to;
  };

  Holding& table_at(Table table) { return tables_[static_cast<std::size_t>(table)]; }
  const Holding& table_at(Table table) const { return tables_[static_cast<std::size_t>(table)]; }
  std::vector<Span>& spans_of(std::int32_t chain) { return chains_[static_cast<std::size_t>(chain)].spans; }
  std::int32_t chain_index(std::uint64_t id);
  std::size_t span_at(std::int32_t chain, std::int32_t block) const;
  bool find_in(std::uint64_t chain, std::int64_t limit, Found& found);
  std::int32_t split(std::int32_t run, std::int32_t block);
  std::int64_t evict(std::int64_t blocks);
  void drop(std::int32_t run);
  void publish_in(Holding& table, std::uint64_t chain, std::int32_t from, std::int32_t to);
  bool extend(Holding& table, std::int32_t chain, std::int32_t from, std::int32_t to);
  std::int32_t add(Holding& table, std::int32_t chain, std::int32_t from, std::int32_t to);
  void release_run(std::int32_t run);
  bool merge_into_tail(std::int32_t run);
  void check_chain(std::int32_t chain) const;

  std::vector<Chain> chains_;
  std::vector<std::int32_t> spare_chains_;
  boost::unordered_flat_map<std::uint64_t, std::int32_t> index_;  // chain id -> chain; never iterated
  std::vector<Holding> tables_;
  std::vector<Table> spare_tables_;
  std::vector<Hit> hits_;                // of the last find()
  std::vector<std::int32_t> releasing_;  // scratch
};

}  // namespace servecast::memory
