// Pages one by one, with ids, reference counts and content that any request may hit.
#pragma once

#include "engine/page_store.hpp"

#include <span>
#include <vector>

namespace servecast::engine {

class BlockStore final : public PageStore {
 public:
  BlockStore(std::span<const KvKind> kinds, std::int64_t pages);

  std::int64_t free() const override { return pool_.free(); }
  std::int64_t cached() const override { return pool_.cached(); }
  std::int64_t references() const override { return pool_.references(); }
  bool holds(const SequenceState& s, const PageTable& t, std::size_t kind, std::int32_t page) const override;
  std::int64_t plan(const SequenceState& s, const PageTable& t, std::size_t kind, std::int32_t lo,
                    std::int32_t hi) override;
  void forget_plan() override { planned_.clear(); }
  void take_planned(PageTable& t) override;
  void append(PageTable& t, std::size_t kind, std::int32_t lo, std::int32_t hi) override;
  void publish(const SequenceState& s, PageTable& t, std::size_t kind, std::int32_t lo, std::int32_t hi) override;
  void drop(PageTable& t, std::size_t kind, std::int32_t lo, std::int32_t hi, std::int32_t older) override;
  const memory::BlockPool& pool() const { return pool_; }

 private:
  struct Planned {
    std::int32_t group, page;
    memory::BlockId block;
  };
  // Groups are numbered through all kinds.
  std::int32_t first_group(std::size_t kind) const { return first_group_[kind]; }
  std::int32_t end_group(std::size_t kind) const { return first_group_[kind] + kinds_[kind].groups; }
  void give(std::vector<memory::BlockId>& ids, std::int32_t page);
  static void place(PageTable& t, std::int32_t group, std::int32_t page, memory::BlockId block);

  std::vector<KvKind> kinds_;
  std::vector<std::int32_t> first_group_;
  memory::BlockPool pool_;
  std::vector<Planned> planned_;
};

}  // namespace servecast::engine
