// What the constant-time engine does with content that requests share.
#include "engine/constant_time_replica.hpp"

#include <algorithm>

namespace servecast::engine {

// The request's content in blocks: a block belongs to the chain of its last token.
memory::RunPool::Table ConstantTime::table_of(const workload::Request& request) {
  const workload::Content& content = request.content;
  if (!config_.enable_prefix_caching || !content.shared()) return memory::RunPool::none;
  SERVECAST_ENSURE(shared_, "request {} shares content in an engine that expects none", request.id.value);
  const memory::RunPool::Table table = pool_.open(content.tail);
  memory::RunKey& key = pool_.key(table);
  for (const workload::ContentPiece& piece : content.pieces)
    memory::append_run(key, piece.chain, piece.end / config_.block_size);
  SERVECAST_ENSURE(content.pieces.empty() || content.pieces.back().end <= request.prompt_tokens,
                   "the shared content of request {} outgrows its prompt", request.id.value);
  if (!key.empty() || content.tail != 0) return table;
  pool_.close(table);
  return memory::RunPool::none;
}

// Leading blocks of a request that the pool still holds, at most all tokens but the last.
ConstantTime::Hit ConstantTime::lookup_shared(const Candidate& head) {
  const std::int64_t cap = (head.tokens() - 1) / config_.block_size;
  catch_up(head.table, step_ + 1);
  const memory::RunPool::Found found = pool_.find(head.table, cap);
  Hit hit{found.blocks, found.referenced, 0};
  if (found.blocks == pool_.shareable(head.table)) hit.own = std::min(pool_.hittable(head.run), cap - found.blocks);
  hit.blocks += hit.own;
  return hit;
}

// Publishes what decoders wrote into the table's chains in the first `steps` steps.
void ConstantTime::catch_up(memory::RunPool::Table table, std::int64_t steps) {
  if (writers_.empty()) return;
  for (const memory::Run& run : pool_.key(table)) catch_up_chain(run.chain, steps);
  if (pool_.tail(table) != 0) catch_up_chain(pool_.tail(table), steps);
}

// Of several writers of a chain the one with more computed tokens fills each block first, always.
void ConstantTime::catch_up_chain(std::uint64_t chain, std::int64_t steps) {
  std::vector<std::int32_t>& slots = writers_.of(chain);
  if (slots.size() > 1)
    std::sort(slots.begin(), slots.end(), [this](std::int32_t a, std::int32_t b) {
      const Slot& x = slots_[static_cast<std::size_t>(a)];
      const Slot& y = slots_[static_cast<std::size_t>(b)];
      return x.base != y.base ? x.base > y.base : x.admission < y.admission;
    });
  for (const std::int32_t index : slots) {
    const Slot& slot = slots_[static_cast<std::size_t>(index)];
    pool_.publish(slot.table, (slot.base + steps) / config_.block_size);
  }
}

// Whether decoders may publish what the queue's head waits for.
bool ConstantTime::head_may_change() const {
  if (writers_.empty()) return false;
  const memory::RunPool::Table table = waiting_.front().table;
  if (table == memory::RunPool::none) return false;
  for (const memory::Run& run : pool_.key(table)) {
    if (writers_.contains(run.chain)) return true;
  }
  return pool_.tail(table) != 0 && writers_.contains(pool_.tail(table));
}

// Frees what nobody else holds; private blocks are the last of a request and go first.
void ConstantTime::give(const Leaving& leaving) {
  logical_ -= leaving.blocks;
  if (leaving.table == memory::RunPool::none) {
    pool_.give(leaving.blocks, leaving.full);
    return;
  }
  const std::int64_t shared = pool_.published(leaving.table);
  pool_.give(leaving.blocks - shared, leaving.full - shared);
  pool_.release(leaving.table);
  pool_.close(leaving.table);
}

}  // namespace servecast::engine
