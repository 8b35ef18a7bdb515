// Bytes that a replica asks to have moved beside its steps, and the links that move them. A replica returns what it
// asked for when it scheduled (Replica::transfers); until the cluster plays transfers on a fabric, each GPU has one
// host link of its own, and its share of the node's storage behind it, which serve them one after the other per
// direction.
#pragma once

#include "core/time.hpp"

#include <cstdint>

namespace servecast::engine {

enum class TransferKind : std::uint8_t { SwapOut, SwapIn, Load, Store, StorageRead, StorageWrite };

struct Transfer {
  TransferKind kind = TransferKind::SwapOut;
  std::int64_t blocks = 0;
  std::int64_t bytes = 0;  // per GPU
};

struct HostLink {
  double bytes_per_s = 0;  // per GPU and direction; 0: there is none
  core::Duration time(const Transfer& transfer) const {
    return core::seconds(static_cast<double>(transfer.bytes) / bytes_per_s);
  }
};

struct StorageLink {
  double read_bytes_per_s = 0, write_bytes_per_s = 0;  // per GPU; 0: there is none
};

// What the tiers below the GPU gave and took over the life of a replica. A hit counts for the tier it was found in.
struct TierUse {
  std::int64_t host_hit_tokens = 0, storage_hit_tokens = 0;
  std::int64_t storage_read_blocks = 0, storage_written_blocks = 0;
  core::Duration in, out, read, write;  // that the host link (to the GPU, from it) and storage were busy
  core::Duration held_up;               // that steps took longer for it
  bool operator==(const TierUse&) const = default;
};

}  // namespace servecast::engine
