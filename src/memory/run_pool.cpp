#include "memory/run_pool.hpp"

#include "core/error.hpp"

#include <algorithm>

namespace servecast::memory {

RunPool::Table RunPool::open(std::uint64_t tail) {
  if (spare_tables_.empty()) {
    spare_tables_.push_back(static_cast<Table>(tables_.size()));
    tables_.emplace_back();
  }
  const Table id = spare_tables_.back();
  spare_tables_.pop_back();
  Holding& table = table_at(id);
  table.key.clear();
  table.tail = tail;
  table.open = true;
  return id;
}

void RunPool::close(Table id) {
  Holding& table = table_at(id);
  SERVECAST_ENSURE(table.open && table.held.empty(), "table {} is closed while it holds blocks", id);
  table.open = false;
  spare_tables_.push_back(id);
}

std::int32_t RunPool::chain_index(std::uint64_t id) {
  const auto [entry, fresh] = index_.try_emplace(id, -1);
  if (!fresh) return entry->second;
  if (spare_chains_.empty()) {
    spare_chains_.push_back(static_cast<std::int32_t>(chains_.size()));
    chains_.emplace_back();
  }
  entry->second = spare_chains_.back();
  spare_chains_.pop_back();
  chains_[static_cast<std::size_t>(entry->second)].id = id;
  return entry->second;
}

// Index of the first span that ends behind `block`.
std::size_t RunPool::span_at(std::int32_t chain, std::int32_t block) const {
  const std::vector<Span>& spans = chains_[static_cast<std::size_t>(chain)].spans;
  if (spans.empty() || spans.back().hi <= block) return spans.size();
  const auto after = [](std::int32_t value, const Span& span) { return value < span.hi; };
  return static_cast<std::size_t>(std::upper_bound(spans.begin(), spans.end(), block, after) - spans.begin());
}

RunPool::Found RunPool::find(Table id, std::int64_t cap) {
  hits_.clear();
  Found found;
  const Holding& table = table_at(id);
  for (const Run& run : table.key) {
    if (!find_in(run.chain, std::min(run.end, cap), found)) return found;
  }
  if (table.tail != 0) find_in(table.tail, cap, found);
  return found;
}

// Adds the blocks of the chain from found.blocks to `limit`; false where one is missing.
bool RunPool::find_in(std::uint64_t id, std::int64_t limit, Found& found) {
  if (found.blocks >= limit) return true;
  const auto entry = index_.find(id);
  if (entry == index_.end()) return false;
  const std::vector<Span>& spans = spans_of(entry->second);
  auto from = static_cast<std::int32_t>(found.blocks);
  const auto end = static_cast<std::int32_t>(limit);
  for (std::size_t i = span_at(entry->second, from); from < end; ++i) {
    if (i == spans.size() || spans[i].lo > from) return false;
    const std::int32_t to = std::min(spans[i].hi, end);
    // A chain that goes on where the one before ends, as a session's does behind its own prompt, is one hit.
    if (!hits_.empty() && hits_.back().run == spans[i].oldest)
      hits_.back().to = to;
    else
      hits_.push_back({spans[i].oldest, from, to});
    if (at(spans[i].oldest).references > 0) found.referenced += to - from;
    found.blocks = from = to;
  }
  return true;
}

void RunPool::retain(Table id) {
  Holding& table = table_at(id);
  SERVECAST_ENSURE(table.held.empty(), "table {} is filled twice", id);
  for (const Hit& hit : hits_) {
    const std::int32_t run = hit.from > at(hit.run).lo ? split(hit.run, hit.from) : hit.run;
    if (hit.to < at(run).hi) split(run, hit.to);
    if (at(run).references++ == 0) {
      unlink(run);
      free_ -= at(run).blocks();
      cached_ -= at(run).blocks();
    }
    table.held.push_back({run, hit.to});
    table.published = hit.to;
  }
}

// Cuts the run's span, with all its copies, at `block`. Each run keeps the lower part; returns this run's upper part.
std::int32_t RunPool::split(std::int32_t id, std::int32_t block) {
  const std::int32_t chain = at(id).chain;
  const std::size_t i = span_at(chain, at(id).lo);
  Span upper{block, spans_of(chain)[i].hi, -1, -1};
  for (std::int32_t lower = spans_of(chain)[i].oldest; lower >= 0; lower = at(lower).newer) {
    const std::int32_t rest = make();
    BlockRun& run = at(rest);
    run = at(lower);
    run.lo = block;
    run.older = upper.newest;
    run.newer = -1;
    if (run.references == 0) link_before(rest, lower);
    (upper.newest >= 0 ? at(upper.newest).newer : upper.oldest) = rest;
    upper.newest = rest;
    at(lower).hi = block;
    at(lower).rest = rest;
  }
  std::vector<Span>& spans = spans_of(chain);
  spans[i].hi = block;
  spans.insert(spans.begin() + static_cast<std::ptrdiff_t>(i) + 1, upper);
  return at(id).rest;
}

// Takes up to `blocks` from the shared run at the head of the queue; returns how many.
std::int64_t RunPool::evict(std::int64_t blocks) {
  const std::int32_t id = head_;
  const std::int32_t size = at(id).blocks();
  if (blocks >= size) {
    drop(id);
    return size;
  }
  const auto taken = static_cast<std::int32_t>(blocks);
  if (at(id).older >= 0 || at(id).newer >= 0) {
    drop(split(id, at(id).hi - taken));
    return taken;
  }
  const std::int32_t chain = at(id).chain;
  spans_of(chain)[span_at(chain, at(id).lo)].hi -= taken;
  at(id).hi -= taken;
  cached_ -= taken;
  return taken;
}

// Forgets a free run's content and takes it out of the queue.
void RunPool::drop(std::int32_t id) {
  const BlockRun run = at(id);
  const std::size_t i = span_at(run.chain, run.lo);
  std::vector<Span>& spans = spans_of(run.chain);
  (run.older >= 0 ? at(run.older).newer : spans[i].oldest) = run.newer;
  (run.newer >= 0 ? at(run.newer).older : spans[i].newest) = run.older;
  if (spans[i].oldest < 0) spans.erase(spans.begin() + static_cast<std::ptrdiff_t>(i));
  if (spans.empty()) {
    index_.erase(chains_[static_cast<std::size_t>(run.chain)].id);
    spare_chains_.push_back(run.chain);
  }
  cached_ -= run.blocks();
  recycle(id);
}

void RunPool::publish(Table id, std::int64_t to) {
  Holding& table = table_at(id);
  to = std::min(to, shareable(id));
  if (to <= table.published) return;
  auto from = static_cast<std::int32_t>(table.published);
  table.published = to;
  auto run = std::upper_bound(table.key.begin(), table.key.end(), std::int64_t{from},
                              [](std::int64_t block, const Run& r) { return block < r.end; });
  for (; run != table.key.end() && from < to; ++run) {
    const auto end = static_cast<std::int32_t>(std::min(run->end, to));
    publish_in(table, run->chain, from, end);
    from = end;
  }
  if (from < to) publish_in(table, table.tail, from, static_cast<std::int32_t>(to));
}

// A run of the table's own for each stretch of [from, to) that the chain holds already, and for each that it lacks.
void RunPool::publish_in(Holding& table, std::uint64_t chain_id, std::int32_t from, std::int32_t to) {
  const std::int32_t chain = chain_index(chain_id);
  if (extend(table, chain, from, to)) return;
  while (from < to) from = add(table, chain, from, to);
}

// Where the table's last run ends the chain, and is the table's alone, it grows.
bool RunPool::extend(Holding& table, std::int32_t chain, std::int32_t from, std::int32_t to) {
  if (table.held.empty() || table.held.back().end != from) return false;
  std::vector<Span>& spans = spans_of(chain);
  if (spans.empty() || spans.back().hi != from || spans.back().oldest != spans.back().newest) return false;
  std::int32_t last = table.held.back().run;
  while (at(last).hi < from) last = at(last).rest;
  if (last != spans.back().oldest || at(last).references != 1) return false;
  at(last).hi = spans.back().hi = table.held.back().end = to;
  return true;
}

// The first stretch of [from, to) that is alike; returns its end.
std::int32_t RunPool::add(Holding& table, std::int32_t chain, std::int32_t from, std::int32_t to) {
  std::size_t i = span_at(chain, from);
  std::vector<Span>& spans = spans_of(chain);
  const bool copy = i < spans.size() && spans[i].lo <= from;
  if (copy && spans[i].lo < from) split(spans[i++].oldest, from);
  if (copy && spans[i].hi > to) split(spans[i].oldest, to);
  const std::int32_t end = copy ? spans[i].hi : i < spans.size() ? std::min(to, spans[i].lo) : to;
  const std::int32_t id = make();
  BlockRun& run = at(id);
  run.lo = from;
  run.hi = end;
  run.chain = chain;
  run.references = 1;
  if (copy) {
    run.older = spans[i].newest;
    at(run.older).newer = id;
    spans[i].newest = id;
  } else {
    spans.insert(spans.begin() + static_cast<std::ptrdiff_t>(i), {from, end, id, id});
  }
  table.held.push_back({id, end});
  return end;
}

void RunPool::release(Table id) {
  Holding& table = table_at(id);
  for (auto held = table.held.rbegin(); held != table.held.rend(); ++held) {
    releasing_.clear();
    for (std::int32_t run = held->run;; run = at(run).rest) {
      releasing_.push_back(run);
      if (at(run).hi == held->end) break;
    }
    for (auto run = releasing_.rbegin(); run != releasing_.rend(); ++run) release_run(*run);
  }
  table.held.clear();
  table.published = 0;
}

void RunPool::release_run(std::int32_t id) {
  SERVECAST_ENSURE(at(id).references > 0, "run {} of blocks is released twice", id);
  if (--at(id).references > 0) return;
  free_ += at(id).blocks();
  cached_ += at(id).blocks();
  if (!merge_into_tail(id)) link_before(id, -1);
}

// Neighbours in the queue that are neighbours in the chain, too, become one run. Nobody holds either.
bool RunPool::merge_into_tail(std::int32_t id) {
  if (tail_ < 0) return false;
  const BlockRun tail = at(tail_);
  BlockRun& run = at(id);
  if (tail.chain != run.chain || tail.lo != run.hi) return false;
  if (tail.older >= 0 || tail.newer >= 0 || run.older >= 0 || run.newer >= 0) return false;
  std::vector<Span>& spans = spans_of(run.chain);
  const std::size_t i = span_at(run.chain, run.lo);
  run.hi = spans[i].hi = tail.hi;
  spans.erase(spans.begin() + static_cast<std::ptrdiff_t>(i) + 1);
  recycle(tail_);
  link_before(id, -1);
  return true;
}

void RunPool::check_chain(std::int32_t chain) const {
  std::int32_t end = 0;
  for (const Span& span : chains_[static_cast<std::size_t>(chain)].spans) {
    SERVECAST_ENSURE(span.lo >= end && span.hi > span.lo, "spans of chain {} overlap", chain);
    end = span.hi;
    std::int32_t older = -1;
    for (std::int32_t id = span.oldest; id >= 0; older = id, id = at(id).newer) {
      const BlockRun& run = at(id);
      SERVECAST_ENSURE(run.lo == span.lo && run.hi == span.hi && run.chain == chain && run.older == older,
                       "run {} is badly linked", id);
    }
    SERVECAST_ENSURE(older == span.newest, "copies of chain {} are badly linked", chain);
  }
}

void RunPool::check() const {
  std::int64_t waiting = 0, cached = 0;
  for (std::int32_t id = head_, before = -1; id >= 0; before = id, id = at(id).next) {
    const BlockRun& run = at(id);
    SERVECAST_ENSURE(run.previous == before && run.references == 0 && run.blocks() > 0, "run {} is badly queued", id);
    waiting += run.blocks();
    cached += run.chain < 0 ? run.full : run.blocks();
  }
  SERVECAST_ENSURE(waiting == free_ && cached == cached_, "{} of {} blocks are queued, {} of {} cached", waiting, free_,
                   cached, cached_);
  for (std::size_t chain = 0; chain < chains_.size(); ++chain) {
    if (!chains_[chain].spans.empty()) check_chain(static_cast<std::int32_t>(chain));
  }
  std::vector<std::int32_t> references(runs_.size(), 0);
  for (const Holding& table : tables_) {
    for (const Held& held : table.held) {
      std::int32_t run = held.run;
      for (; at(run).hi != held.end; run = at(run).rest) ++references[static_cast<std::size_t>(run)];
      ++references[static_cast<std::size_t>(run)];
    }
  }
  for (const auto& [chain, index] : index_) {
    for (const Span& span : chains_[static_cast<std::size_t>(index)].spans)
      for (std::int32_t id = span.oldest; id >= 0; id = at(id).newer)
        SERVECAST_ENSURE(at(id).references == references[static_cast<std::size_t>(id)], "run {} is held {} times", id,
                         references[static_cast<std::size_t>(id)]);
  }
}

}  // namespace servecast::memory
