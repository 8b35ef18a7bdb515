#include "scenario/offload_setup.hpp"

#include "core/units.hpp"
#include "cost/device.hpp"
#include "engine/replica.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace servecast::scenario {
namespace {

constexpr double gib = 1024.0 * 1024.0 * 1024.0;
constexpr double mostly_busy = 0.8;    // share of its life above which a link is the bottleneck. Assumed
constexpr double much_held_up = 0.1;  // share of step time lost to transfers that is worth a word. Assumed

double ranks_of(const Resolved& r) { return cost::ranks_per_gpu(r.scenario.pools[0].device, r.gpu); }

// A rank's part of the node's storage, in bytes/s.
double storage_share(const Resolved& r, const std::optional<double>& stated_gb_s, double node_gb_s) {
  return stated_gb_s.value_or(node_gb_s / r.node.gpus) * 1e9 / ranks_of(r);
}

double block_bytes(const FitReport& fit) { return fit.kv.block_bytes * static_cast<double>(fit.kv.groups()); }

std::int64_t blocks_in(double gib_per_gpu, const Resolved& r, const FitReport& fit) {
  return static_cast<std::int64_t>(gib_per_gpu * gib / ranks_of(r) / block_bytes(fit));
}

struct Lane {
  core::Duration busy;
  std::string_view name;
  std::string_view ways;
};

}  // namespace

void check_offload(const Resolved& r, const FitReport& fit, core::Problems& problems) {
  const engine::Settings& s = fit.settings;
  if (!s.kv_offload_gib) return;
  const std::string place = r.pools[0].place + "/engine";
  if (r.gpu.pcie_gb_s <= 0)
    problems.add(place + "/kv_offload_gib",
                 "{} states no pcie_gb_s, over which blocks would move; state it in the GPU profile", r.gpu.name);
  if (s.kv_offload_nvme_gib) {
    const auto missing = [&](const std::optional<double>& stated, double node, std::string_view way) {
      if (!stated && node <= 0)
        problems.add(place + "/kv_offload_nvme_gib",
                     "{} states no nvme_{}_gb_s; state it there, or kv_offload_nvme_{}_gb_s", r.node.name, way, way);
    };
    missing(s.kv_offload_nvme_read_gb_s, r.node.nvme_read_gb_s, "read");
    missing(s.kv_offload_nvme_write_gb_s, r.node.nvme_write_gb_s, "write");
  }
  const std::int64_t host = blocks_in(*s.kv_offload_gib, r, fit);
  if (r.pools[0].stack.scheduler == Scheduler::Sglang && host <= fit.engine_blocks)
    problems.add(
        place + "/kv_offload_gib",
        "{:g} GiB are {} tokens, not more than the {} of the GPU, and SGLang's host pool must be the larger one; "
        "give more than {:.1f}",
        *s.kv_offload_gib, core::count_text(host * fit.kv.block_size),
        core::count_text(fit.engine_blocks * fit.kv.block_size),
        static_cast<double>(fit.engine_blocks) * block_bytes(fit) * ranks_of(r) / gib);
}

void set_up_offload(const Resolved& r, const FitReport& fit, engine::Config& config) {
  const engine::Settings& s = fit.settings;
  if (!s.kv_offload_gib) return;
  config.offload_blocks = blocks_in(*s.kv_offload_gib, r, fit);
  config.offload_write = *s.kv_offload_write;
  config.offload_prefetch = *s.kv_offload_prefetch;
  config.layers = r.model.layers;
  if (!s.kv_offload_nvme_gib) return;
  config.storage_blocks = blocks_in(*s.kv_offload_nvme_gib, r, fit);
  config.storage_link = {storage_share(r, s.kv_offload_nvme_read_gb_s, r.node.nvme_read_gb_s),
                         storage_share(r, s.kv_offload_nvme_write_gb_s, r.node.nvme_write_gb_s)};
}

std::string narrow_link(const Resolved& r, const engine::Config& config, const engine::Totals& sum,
                        core::Duration life) {
  if (config.offload_blocks == 0 || life.ps <= 0) return "";
  const engine::TierUse& use = sum.tiers;
  const std::array<Lane, 4> lanes = {
      {{use.in, "the host link to the GPU", "load fewer prefixes (a smaller kv_offload_gib), or use more GPUs"},
       {use.out, "the host link from the GPU", "store less (kv_offload_write through_selective or back)"},
       {use.read, "reading NVMe", "keep more on the host (kv_offload_gib), or faster NVMe (kv_offload_nvme_read_gb_s)"},
       {use.write, "writing NVMe",
        "keep more on the host (kv_offload_gib), store less (kv_offload_write), or faster "
        "NVMe (kv_offload_nvme_write_gb_s)"}}};
  const Lane& top =
      *std::max_element(lanes.begin(), lanes.end(), [](const Lane& a, const Lane& b) { return a.busy < b.busy; });
  const double busy = static_cast<double>(top.busy.ps) / static_cast<double>(life.ps);
  const double held = sum.busy.ps > 0 ? static_cast<double>(use.held_up.ps) / static_cast<double>(sum.busy.ps) : 0;
  if (busy < mostly_busy && held < much_held_up) return "";
  std::string ways(top.ways);
  if (config.offload_prefetch == engine::OffloadPrefetch::Wait && r.pools[0].stack.scheduler == Scheduler::VllmV1)
    ways = "load beside other steps (kv_offload_prefetch ahead), " + ways;
  return fmt::format(
      "moving cached prefixes is a bottleneck: {} is busy {} of the time, and steps take {} longer for all "
      "transfers; {}",
      top.name, core::percent_text(busy), core::percent_text(held / std::max(1 - held, 1e-9)), ways);
}

}  // namespace servecast::scenario
