// Who is part of a step of vLLM v0: prompts alone, or decodes and chunks of prompts together.
#include "engine/group_replica.hpp"
#include "engine/sequence.hpp"

namespace servecast::engine {

using core::Time;

// One pass. Without chunked prefill: prompts, unless groups are swapped out; else decodes, then groups from the host.
// With it: decodes and unfinished prompts, groups from the host, prompts. False: the step would be empty.
bool GroupLoop::schedule(Time now) {
  shape_ = {};
  prompts_ = decoding_ = 0;
  retry_ = false;
  budget_ = config_.max_num_batched_tokens;
  const bool chunked = config_.enable_chunked_prefill;
  if (!chunked && swapped_.empty()) admit_prompts();
  if (prompts_ == 0) {
    retry_ = serve_running(now);
    if (!retry_) swap_in();
    if (chunked) admit_prompts();
    if (chunked) order_running();
  }
  for (Owned& group : preempted_) waiting_.put_first(std::move(group));
  preempted_.clear();
  return prompts_ + decoding_ > 0;
}

// Tokens that a group of one sequence may still take of the step: of whole blocks where prefixes are cached.
std::int32_t GroupLoop::room() const {
  return config_.enable_prefix_caching ? budget_ / config_.block_size * config_.block_size : budget_;
}

// Tokens that a running group takes of the step; 0: there is no room.
std::int32_t GroupLoop::share(const Group& group) const {
  if (group.prefilling()) return std::min(group.goal - group.computed, room());
  const bool fits = !config_.enable_chunked_prefill || sequences() <= (sequences() > 1 ? budget_ : room());
  return fits ? sequences() : 0;
}

void GroupLoop::admit_prompts() {
  while (!waiting_.empty() && has_seats() && budget_ > 0 && admit(waiting_.first())) {
    running_.push_back(waiting_.take());
    running_.back()->from = From::Queue;
  }
}

// All blocks of a prompt are taken at once, whatever part of it this step computes.
bool GroupLoop::admit(Group& group) {
  const std::int32_t tokens = group.tokens();
  const std::int64_t blocks = blocks_for(tokens, config_.block_size);
  if (gpu_.total() - blocks < watermark_) refuse(group, "its prompt");
  if (gpu_.free() - blocks < watermark_) return false;
  const std::int32_t cached = config_.enable_prefix_caching ? cached_prefix(group) : 0;
  const std::int32_t rest = tokens - cached;
  const std::int32_t part = config_.enable_chunked_prefill ? std::min(rest, room()) : rest;
  if (part == 0 || part > budget_) return false;
  group.tables.begin(gpu_, blocks, group.keys);
  group.goal = tokens;
  group.computed = cached;
  if (config_.enable_prefix_caching) observer_.prefix_lookup(group.request.id, tokens, cached, group.was_preempted);
  prefill(group, part);
  return true;
}

void GroupLoop::prefill(Group& group, std::int32_t tokens) {
  const std::int32_t end = group.computed + tokens;
  group.chunk = tokens;
  group.accessed = totals_.steps;
  budget_ -= tokens;
  ++prompts_;
  shape_.prefill_tokens += tokens;
  ++shape_.prefill_requests;
  shape_.prefill_attention += cost_.chunk(group.computed, end);
  if (end == group.goal) ++shape_.sampled_rows;
}

// Room for the token made last, whose keys and values this step computes. Requires: as many free blocks as sequences.
void GroupLoop::decode(Group& group) {
  const std::int32_t context = group.tokens();
  copies_ += group.tables.append(gpu_, context - 1, config_.block_size);
  if (config_.enable_prefix_caching) fill_last(group, context);
  group.decodes = true;
  group.accessed = totals_.steps;
  budget_ -= sequences();
  ++decoding_;
  shape_.decode_requests += sequences();
  shape_.sampled_rows += sequences();
  shape_.decode_context += std::int64_t{context} * sequences();
  if (window_ > 0) shape_.decode_context_windowed += std::int64_t{std::min(context, window_)} * sequences();
}

// Decodes, and unfinished prompts where chunks are on. Returns whether a group was preempted.
bool GroupLoop::serve_running(Time now) {
  bool preempted = false;
  for (std::size_t i = 0; i < running_.size();) {
    Group& group = *running_[i];
    const std::int32_t tokens = share(group);
    if (tokens == 0) break;
    if (group.prefilling()) {
      prefill(group, tokens);
    } else if (gpu_.free() >= sequences()) {
      decode(group);
    } else {
      if (running_.size() == 1 && gpu_.used() == group.tables.distinct(gpu_)) refuse(group, "it");
      preempt(now);
      preempted = true;
      continue;
    }
    ++i;
  }
  return preempted;
}

// The engine's order with chunks: what had no room first, then what came from the host, decodes, prompts that end with
// this step, prompts that do not, new prompts.
void GroupLoop::order_running() {
  const auto rank = [](const Owned& group) {
    if (group->from == From::Queue) return 6;
    if (!group->decodes && group->chunk == 0) return 0;
    if (group->from == From::Host) return group->decodes ? 1 : 2;
    if (group->decodes) return 3;
    return group->computed + group->chunk == group->goal ? 4 : 5;
  };
  const auto before = [&rank](const Owned& a, const Owned& b) { return rank(a) < rank(b); };
  if (!std::is_sorted(running_.begin(), running_.end(), before))
    std::stable_sort(running_.begin(), running_.end(), before);
}

}  // namespace servecast::engine
