// When each decoding slot emits its last token, by step number: a ring of intrusive lists with an occupancy bitmap.
// Insertion, removal and lookup of the next due step within 64 are O(1). Slots due more than a lap ahead share buckets
// with nearer ones and are told apart by their due step.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

namespace servecast::engine {

class FinishCalendar {
 public:
  explicit FinishCalendar(std::int32_t slots)
      : next_(static_cast<std::size_t>(slots), -1), previous_(next_), due_(static_cast<std::size_t>(slots), -1) {
    heads_.fill(-1);
  }

  void insert(std::int32_t slot, std::int64_t step) {
    const auto i = static_cast<std::size_t>(slot);
    const std::size_t bucket = bucket_of(step);
    due_[i] = step;
    previous_[i] = -1;
    next_[i] = heads_[bucket];
    if (heads_[bucket] >= 0) previous_[static_cast<std::size_t>(heads_[bucket])] = slot;
    heads_[bucket] = slot;
    occupied_[bucket / 64] |= std::uint64_t{1} << (bucket % 64);
  }

  void remove(std::int32_t slot) {
    const auto i = static_cast<std::size_t>(slot);
    const std::size_t bucket = bucket_of(due_[i]);
    if (previous_[i] >= 0)
      next_[static_cast<std::size_t>(previous_[i])] = next_[i];
    else
      heads_[bucket] = next_[i];
    if (next_[i] >= 0) previous_[static_cast<std::size_t>(next_[i])] = previous_[i];
    if (heads_[bucket] < 0) occupied_[bucket / 64] &= ~(std::uint64_t{1} << (bucket % 64));
    due_[i] = -1;
  }

  // False: nothing is due at `step`. True: something may be.
  bool occupied(std::int64_t step) const {
    const std::size_t bucket = bucket_of(step);
    return (occupied_[bucket / 64] >> (bucket % 64) & 1) != 0;
  }

  bool any_due(std::int64_t step) const {
    const std::size_t bucket = bucket_of(step);
    if ((occupied_[bucket / 64] >> (bucket % 64) & 1) == 0) return false;
    for (std::int32_t slot = heads_[bucket]; slot >= 0; slot = next_[static_cast<std::size_t>(slot)]) {
      if (due_[static_cast<std::size_t>(slot)] == step) return true;
    }
    return false;
  }

  // Smallest i in [0, limit) with something due at step + i, else limit. Requires: limit <= 64.
  std::int32_t next_due(std::int64_t step, std::int32_t limit) const {
    const std::size_t bucket = bucket_of(step);
    const std::size_t shift = bucket % 64;
    std::uint64_t bits = occupied_[bucket / 64] >> shift;
    if (shift != 0) bits |= occupied_[(bucket / 64 + 1) % words] << (64 - shift);
    for (; bits != 0; bits &= bits - 1) {
      const std::int32_t ahead = std::countr_zero(bits);
      if (ahead >= limit) return limit;
      if (any_due(step + ahead)) return ahead;
    }
    return limit;
  }

  // Removes every slot due at `step` and calls visit(slot); visit may insert.
  template <typename Visit>
  void take(std::int64_t step, Visit visit) {
    std::int32_t slot = heads_[bucket_of(step)];
    while (slot >= 0) {
      const std::int32_t after = next_[static_cast<std::size_t>(slot)];
      if (due_[static_cast<std::size_t>(slot)] == step) {
        remove(slot);
        visit(slot);
      }
      slot = after;
    }
  }

 private:
  static constexpr std::size_t buckets = 2048;  // power of two; longer outputs share buckets
  static constexpr std::size_t words = buckets / 64;
  static std::size_t bucket_of(std::int64_t step) { return static_cast<std::size_t>(step) & (buckets - 1); }

  std::array<std::int32_t, buckets> heads_;
  std::array<std::uint64_t, words> occupied_{};
  std::vector<std::int32_t> next_, previous_;
  std::vector<std::int64_t> due_;
};

}  // namespace servecast::engine
