// Pages by counting, where requests share no content: only a request that was preempted can find its own pages again.
// Equal to block_store in every answer, in time that does not depend on how many pages move; but of copies that a
// request left in three lives and more, another may answer.
//
// Given pages are numbered in order, and taken in that order. A page still has its content while its number is not
// taken; pages that were hit leave holes in the numbers.
#pragma once

#include "engine/page_store.hpp"

#include <map>
#include <span>
#include <vector>

namespace servecast::engine {

class CountStore final : public PageStore {
 public:
  // caching: preempted requests look their pages up.
  CountStore(std::span<const KvKind> kinds, std::int64_t pages, bool caching)
      : kinds_(kinds.begin(), kinds.end()), caching_(caching), pages_(pages), free_(pages), given_(pages) {}

  std::int64_t free() const override { return free_; }
  std::int64_t cached() const override { return 0; }  // content that anybody else could use
  std::int64_t references() const override { return pages_ - free_; }
  bool holds(const SequenceState& s, const PageTable& t, std::size_t kind, std::int32_t page) const override;
  std::int64_t plan(const SequenceState& s, const PageTable& t, std::size_t kind, std::int32_t lo,
                    std::int32_t hi) override;
  void forget_plan() override { planned_.clear(); }
  void take_planned(PageTable& t) override;
  void append(PageTable& t, std::size_t kind, std::int32_t lo, std::int32_t hi) override;
  void publish(const SequenceState&, PageTable&, std::size_t, std::int32_t, std::int32_t) override {}
  void drop(PageTable& t, std::size_t kind, std::int32_t lo, std::int32_t hi, std::int32_t older) override;

 private:
  // Number of the oldest copy of the page that still has its content, 0: none.
  std::int64_t find(const PageTable& t, std::size_t kind, std::int32_t group, std::int32_t page) const;
  bool kept(std::int64_t serial) const;

  std::vector<KvKind> kinds_;
  bool caching_;
  std::int64_t pages_;
  std::int64_t free_;
  std::int64_t given_;                          // numbers so far; the pool's pages begin as given
  std::int64_t taken_ = 0;                      // numbers up to here are taken, or holes
  std::map<std::int64_t, std::int64_t> holes_;  // first number -> end, beyond taken_
  std::vector<std::int64_t> planned_;
};

}  // namespace servecast::engine
