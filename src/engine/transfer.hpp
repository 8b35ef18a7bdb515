// Bytes that a replica asks to have moved beside its steps, and the link that moves them. A replica returns what its
// run in progress moves (Replica::transfers); until the cluster plays transfers on a fabric, each GPU has one host link
// of its own, which moves them one after the other before the run's first step.
#pragma once

#include "core/time.hpp"

#include <cstdint>

namespace servecast::engine {

enum class TransferKind : std::uint8_t { SwapOut, SwapIn, Load, Store };

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

}  // namespace servecast::engine
