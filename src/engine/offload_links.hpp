// The host link of a GPU and its share of storage, as offloading uses them: four lanes (to the GPU, from it, storage
// read and written), each serving its transfers in order of request. Times are those of requests, never of steps; it
// keeps what was asked for and how long each lane was busy. It knows no content.
#pragma once

#include "engine/config.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace servecast::engine {

class OffloadLinks {
 public:
  explicit OffloadLinks(const Config& config)
      : block_bytes_(config.block_bytes), link_(config.host_link), storage_(config.storage_link) {}

  // Each returns when its blocks are there.
  // Blocks to the GPU, of which `from_storage` have to be read first: they follow the others, each as it arrives.
  core::Time load(core::Time at, std::int64_t blocks, std::int64_t from_storage) {
    core::Time there = take(in_, at, TransferKind::Load, blocks, link_.bytes_per_s, use_.in);
    if (from_storage == 0) return there;
    const core::Time last = read(at, from_storage) + time_of(1, link_.bytes_per_s);
    there = std::max(there, last);
    in_ = there;
    return there;
  }
  core::Time store(core::Time at, std::int64_t blocks) {
    return take(out_, at, TransferKind::Store, blocks, link_.bytes_per_s, use_.out);
  }
  core::Time read(core::Time at, std::int64_t blocks) {
    use_.storage_read_blocks += blocks;
    return take(read_, at, TransferKind::StorageRead, blocks, storage_.read_bytes_per_s, use_.read);
  }
  core::Time write(core::Time at, std::int64_t blocks) {
    use_.storage_written_blocks += blocks;
    return take(write_, at, TransferKind::StorageWrite, blocks, storage_.write_bytes_per_s, use_.write);
  }
  core::Time read_free() const { return read_; }
  core::Duration read_time(std::int64_t blocks) const { return time_of(blocks, storage_.read_bytes_per_s); }
  // The last `blocks` of a read are not wanted any more: they ended at `end`, and it is `at` now.
  void cancel_read(core::Time at, core::Time end, std::int64_t blocks) {
    use_.storage_read_blocks -= blocks;
    use_.read -= read_time(blocks);
    if (read_ == end) read_ = std::max(at, core::Time{end.ps - read_time(blocks).ps});
  }

  void clear_transfers() { transfers_.clear(); }
  std::span<const Transfer> transfers() const { return transfers_; }
  TierUse& use() { return use_; }

 private:
  core::Duration time_of(std::int64_t blocks, double bytes_per_s) const {
    return core::seconds(static_cast<double>(bytes_of(blocks)) / bytes_per_s);
  }
  std::int64_t bytes_of(std::int64_t blocks) const {
    return static_cast<std::int64_t>(static_cast<double>(blocks) * block_bytes_);
  }
  core::Time take(core::Time& lane, core::Time at, TransferKind kind, std::int64_t blocks, double bytes_per_s,
                  core::Duration& busy) {
    if (blocks == 0) return at;
    const core::Duration time = time_of(blocks, bytes_per_s);
    transfers_.push_back({kind, blocks, bytes_of(blocks)});
    busy += time;
    lane = std::max(lane, at) + time;
    return lane;
  }

  double block_bytes_;
  HostLink link_;
  StorageLink storage_;
  core::Time in_, out_, read_, write_;  // when the lane is free
  std::vector<Transfer> transfers_;
  TierUse use_;
};

}  // namespace servecast::engine
