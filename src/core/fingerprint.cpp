#include "core/fingerprint.hpp"

#include "core/random.hpp"

#include <fmt/format.h>

namespace servecast::core {

void Fingerprint::add(std::uint64_t kind, std::uint64_t id, Time at) {
  // Each input passes a full mixing step before the next enters, so no linear relation between them can cancel.
  std::uint64_t state = static_cast<std::uint64_t>(at.ps);
  state = splitmix64(state) ^ id;
  state = splitmix64(state) ^ kind;
  sum_ += splitmix64(state);
}

std::string Fingerprint::text() const { return fmt::format("{:016x}", sum_); }

}  // namespace servecast::core
