// Strong 32-bit indices: a RequestId cannot be mistaken for a ReplicaId.
#pragma once

#include <compare>
#include <cstdint>

namespace servecast::core {

template <typename Tag>
struct Id {
  std::uint32_t value = 0xffffffffu;

  constexpr auto operator<=>(const Id&) const = default;
  constexpr bool valid() const { return value != 0xffffffffu; }
};

}  // namespace servecast::core
