// Groups of sequences between arrival and end, and the queue of those that wait: what was preempted and recomputes,
// newest first, before what arrived, oldest first. A request becomes a group when it is first looked at, so that a long
// queue holds requests only.
#pragma once

#include "core/time.hpp"
#include "engine/branching.hpp"
#include "engine/sequence.hpp"
#include "memory/block_tables.hpp"
#include "workload/request.hpp"

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace servecast::engine {

// Where a group was before this step.
enum class From : std::uint8_t { Running, Host, Queue };

struct Group {
  workload::Request request;
  std::int32_t generated = 0;  // tokens of each sequence
  std::int32_t goal = 0;       // tokens that its prompt has: after a preemption, those it had generated too
  std::int32_t computed = 0;   // of these, those whose KV is there
  std::int32_t chunk = 0;      // of these, those that this step computes
  bool decodes = false;        // this step gives every sequence a token
  bool was_preempted = false;
  From from = From::Running;
  std::int64_t accessed = 0;  // last step that it was part of
  core::Time last_token;
  memory::BlockTables tables;
  std::vector<memory::ContentKey> keys;  // of its full blocks, where prefixes are cached
  std::optional<Ancestors> ancestors;

  std::int32_t tokens() const { return request.prompt_tokens + generated; }
  bool prefilling() const { return computed < goal; }
};

class GroupQueue {
 public:
  using Owned = std::unique_ptr<Group>;

  explicit GroupQueue(const Branching& branching) : branching_(branching) {}

  bool empty() const { return fresh_.empty() && returning_.empty(); }
  std::size_t size() const { return fresh_.size() + returning_.size(); }
  void arrive(const workload::Request& request) { fresh_.push_back(request); }
  void put_first(Owned group) { returning_.push_back(std::move(group)); }
  // Requires: not empty.
  Group& first() {
    if (returning_.empty()) returning_.push_back(begin());
    return *returning_.back();
  }
  // Requires: first() was called, and nothing after it.
  Owned take() {
    Owned group = std::move(returning_.back());
    returning_.pop_back();
    return group;
  }
  // A group that has ended; its storage serves another.
  void retire(Owned group) { spares_.push_back(std::move(group)); }

 private:
  Owned begin() {
    Owned group = spares_.empty() ? std::make_unique<Group>() : std::move(spares_.back());
    if (!spares_.empty()) spares_.pop_back();
    group->request = std::move(fresh_.front());
    fresh_.pop_front();
    group->generated = group->goal = group->computed = 0;
    group->was_preempted = false;
    group->keys.clear();
    if (branching_.beam && branching_.sequences > 1) group->ancestors.emplace(branching_, group->request.id);
    return group;
  }

  Branching branching_;
  std::deque<workload::Request> fresh_;
  std::vector<Owned> returning_;  // the last is first
  std::vector<Owned> spares_;
};

}  // namespace servecast::engine
