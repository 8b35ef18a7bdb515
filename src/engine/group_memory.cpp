// Memory of vLLM v0's groups: content that prompts share, and pressure.
#include "core/units.hpp"
#include "engine/group_replica.hpp"
#include "engine/no_room.hpp"
#include "engine/sequence.hpp"

namespace servecast::engine {

using core::Time;

namespace {

// Content of a request's full block: it belongs to the chain of its last token.
memory::ContentKey key_of(const workload::Request& request, std::int64_t block, std::int32_t block_size) {
  const auto last = static_cast<std::int32_t>((block + 1) * block_size - 1);
  for (const workload::ContentPiece& piece : request.content.pieces)
    if (last < piece.end) return memory::content_key(piece.chain, block);
  const std::uint64_t tail = request.content.tail;
  return memory::content_key(tail != 0 ? tail : private_chain(request.id), block);
}

// Chains of blocks that several sequences of a group write: nobody else has them.
constexpr std::uint64_t written_chain = 0xc000000000000000ull;

}  // namespace

// Leading tokens of a waiting group that need not be computed: whole blocks, all tokens but the last at most.
std::int32_t GroupLoop::cached_prefix(Group& group) {
  const std::int32_t size = config_.block_size;
  for (auto i = static_cast<std::int64_t>(group.keys.size()); i < group.tokens() / size; ++i)
    group.keys.push_back(key_of(group.request, i, size));
  const std::int32_t most = (group.tokens() - 1) / size;
  std::int32_t blocks = 0;
  for (; blocks < most; ++blocks) {
    const auto block = gpu_.find(group.keys[static_cast<std::size_t>(blocks)]);
    if (!block || !gpu_.computed(*block)) break;
  }
  return blocks * size;
}

// A block that a decode fills is known from then on. A single sequence continues the request's content; sequences of a
// group differ from each other.
void GroupLoop::fill_last(Group& group, std::int32_t tokens) {
  if (tokens % config_.block_size != 0) return;
  if (sequences() == 1)
    return group.tables.publish_last(gpu_, 0,
                                     key_of(group.request, tokens / config_.block_size - 1, config_.block_size));
  for (std::size_t i = 0; i < group.tables.sequences(); ++i)
    group.tables.publish_last(gpu_, i, memory::content_key(written_chain, static_cast<std::int64_t>(written_++)));
}

// Tokens [from, to) of every sequence are there: full blocks that end with them may be used.
void GroupLoop::note_computed(Group& group, std::int32_t from, std::int32_t to) {
  const std::int32_t size = config_.block_size;
  for (std::int32_t block = from / size; block < to / size; ++block) {
    for (std::size_t i = 0; i < group.tables.sequences(); ++i)
      gpu_.compute(group.tables.table(i)[static_cast<std::size_t>(block)]);
  }
}

// The last of the running gives its blocks up.
void GroupLoop::preempt(Time now) {
  Owned victim = std::move(running_.back());
  running_.pop_back();
  observer_.preempted(victim->request.id, now);
  ++totals_.preemptions;
  const bool swaps = config_.preemption == PreemptionMode::Swap ||
                     (config_.preemption == PreemptionMode::Automatic && sequences() > 1);
  if (swaps) return swap_out(std::move(victim));
  victim->tables.release(gpu_, victim->accessed);
  victim->goal = victim->computed = 0;
  victim->was_preempted = true;
  preempted_.push_back(std::move(victim));
}

void GroupLoop::swap_out(Owned victim) {
  const std::int64_t blocks = victim->tables.needed(gpu_, host_);
  if (config_.swap_blocks - host_.used() < blocks)
    throw NoRoom("swap_space_gib",
                 fmt::format("{} blocks of swap space hold {}, and request {} needs {} more, where the "
                             "engine aborts; raise it",
                             config_.swap_blocks, host_.used(), victim->request.id.value, blocks));
  transfer(TransferKind::SwapOut, victim->tables.move(gpu_, host_));
  const auto later = [](const Owned& a, const Owned& b) { return a->request.id.value < b->request.id.value; };
  swapped_.insert(std::upper_bound(swapped_.begin(), swapped_.end(), victim, later), std::move(victim));
}

// Groups on the host come back while their blocks, and one more for each sequence that decodes, fit above the
// watermark.
void GroupLoop::swap_in() {
  while (!swapped_.empty()) {
    Group& group = *swapped_.front();
    const std::int32_t tokens = share(group);
    if (tokens == 0 || !has_seats()) return;
    const std::int64_t need = group.tables.needed(host_, gpu_) + (group.prefilling() ? 0 : sequences());
    if (gpu_.total() < need) refuse(group, "it");
    const std::int64_t reserve = running_.empty() ? std::min(watermark_, gpu_.total() - need) : watermark_;
    if (gpu_.free() - need < reserve) return;
    transfer(TransferKind::SwapIn, group.tables.move(host_, gpu_));
    if (group.prefilling())
      prefill(group, tokens);
    else
      decode(group);
    group.from = From::Host;
    running_.push_back(std::move(swapped_.front()));
    swapped_.pop_front();
  }
}

void GroupLoop::transfer(TransferKind kind, std::int64_t blocks) {
  (kind == TransferKind::SwapOut ? totals_.swapped_out_blocks : totals_.swapped_in_blocks) += blocks;
  transfers_.push_back({kind, blocks, static_cast<std::int64_t>(static_cast<double>(blocks) * config_.block_bytes)});
}

void GroupLoop::refuse(const Group& group, const char* what) const {
  throw NoRoom("max_model_len",
               fmt::format("request {} of {} tokens in {}: {} does not fit in {} blocks with a watermark of {}; lower "
                           "max_model_len or the number of sequences, or raise gpu_memory_utilization",
                           group.request.id.value, group.tokens(), core::counted(sequences(), "sequence"), what,
                           gpu_.total(), watermark_));
}

}  // namespace servecast::engine
