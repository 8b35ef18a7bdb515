// How a pool uses the GPUs it has: placement over their dies, the link between dies, the power limit. Settings of a
// what-if: absent, everything is as on the machines that kernels were measured on.
#pragma once

#include "core/error.hpp"
#include "hardware/gpu.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace servecast::config {
class Fields;
}

namespace servecast::cost {

// Unified: one device, addresses interleaved over the dies. Localised: one device, weights and KV cache lie on the die
// whose SMs read them. DevicePerDie: every die is a device and a tensor-parallel rank of its own.
enum class Placement : std::uint8_t { Unified, Localised, DevicePerDie };
inline constexpr std::string_view placement_names[] = {"unified", "localised", "device_per_die"};
constexpr std::span<const std::string_view> names_of(Placement) { return placement_names; }

struct DeviceSettings {
  Placement placement = Placement::Unified;
  std::optional<double> die_link_tb_s;  // both directions together; absent: the GPU's own
  std::optional<double> power_limit_w;  // of a GPU; absent: the board's own
};

void describe(config::Fields& f, DeviceSettings& d);

// Tensor-parallel ranks that one GPU makes.
std::int32_t ranks_per_gpu(const DeviceSettings& d, const hardware::Gpu& gpu);
// The device that a rank runs on: the GPU, or one die of it.
hardware::Gpu rank_device(const DeviceSettings& d, const hardware::Gpu& gpu);

// Settings that the GPU cannot follow. place: of the section.
void check_device(const DeviceSettings& d, const hardware::Gpu& gpu, core::Problems& problems,
                  const std::string& place);

}  // namespace servecast::cost
