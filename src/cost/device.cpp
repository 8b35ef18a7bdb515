#include "cost/device.hpp"

#include "config/fields.hpp"
#include "hardware/dies.hpp"

namespace servecast::cost {
namespace {

constexpr double least_limit = 0.4;  // assumed: share of the board's limit below which drivers accept no set point

bool can_split(const hardware::Gpu& gpu) { return gpu.dies == 2 && gpu.die_link_tb_s > 0 && gpu.sm_count % 2 == 0; }

}  // namespace

void describe(config::Fields& f, DeviceSettings& d) {
  f.field(
      "placement", d.placement,
      "unified: addresses interleaved over the dies; localised: weights and KV cache beside the SMs that read them; "
      "device_per_die: each die a device and a rank of its own");
  f.field("die_link_tb_s", d.die_link_tb_s, config::closed(0.01, 1000),
          "what-if: link between dies, both directions together, TB/s; absent: the GPU's own");
  f.field("power_limit_w", d.power_limit_w, config::above(0, 100000),
          "set point of the power limit of one GPU, W; absent: the board's own");
}

std::int32_t ranks_per_gpu(const DeviceSettings& d, const hardware::Gpu& gpu) {
  return d.placement == Placement::DevicePerDie && can_split(gpu) ? gpu.dies : 1;
}

hardware::Gpu rank_device(const DeviceSettings& d, const hardware::Gpu& gpu) {
  return ranks_per_gpu(d, gpu) > 1 ? hardware::one_die(gpu) : gpu;
}

void check_device(const DeviceSettings& d, const hardware::Gpu& gpu, core::Problems& problems,
                  const std::string& place) {
  if (!can_split(gpu)) {
    const std::string why = gpu.dies == 1 ? "has a single die" : "states no link between two dies";
    if (d.placement != Placement::Unified)
      problems.add(place + "/placement", "{} needs two dies, and {} {}; use \"unified\"",
                   placement_names[static_cast<std::size_t>(d.placement)], gpu.name, why);
    if (d.die_link_tb_s) problems.add(place + "/die_link_tb_s", "{} {}; drop the key", gpu.name, why);
  }
  if (!d.power_limit_w) return;
  const double watts = *d.power_limit_w;
  if (gpu.tdp_w <= 0)
    problems.add(place + "/power_limit_w", "{} states no power limit, so none can be set; drop the key", gpu.name);
  else if (watts > gpu.tdp_w)
    problems.add(place + "/power_limit_w", "{} exceeds the {} W of {}; lower it", watts, gpu.tdp_w, gpu.name);
  else if (watts < least_limit * gpu.tdp_w)
    problems.add(place + "/power_limit_w", "{} is below {} W, the lowest set point of {}; raise it", watts,
                 least_limit * gpu.tdp_w, gpu.name);
}

}  // namespace servecast::cost
