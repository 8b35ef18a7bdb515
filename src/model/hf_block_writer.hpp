// Collects the blocks of a configuration one by one into kinds and their order. Internal to the importers.
#pragma once

#include "model/architecture.hpp"

namespace servecast::model {

class BlockWriter {
 public:
  // The next block. Its letter names a kind not seen before; where it is empty the next free one does.
  void add(BlockKind kind);
  const BlockOrder& order() const { return order_; }
  std::int32_t count(FeedForward f) const;
  std::int32_t count(Mixer m) const;

 private:
  BlockOrder order_;
};

}  // namespace servecast::model
