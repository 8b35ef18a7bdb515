#include "config/fields.hpp"
#include "core/units.hpp"
#include "hardware/gpu.hpp"
#include "hardware/provenance.hpp"

#include <fmt/core.h>

namespace servecast::hardware {
namespace {

void numbers(config::Fields& f, Node& n) {
  f.required("gpus", n.gpus, config::closed(1, 4096), "GPUs per node");
  f.required("scale_up_domain", n.scale_up_domain, config::closed(1, 4096),
             "GPUs that reach each other over scale-up links");
  f.field("node_overhead_w", n.node_overhead_w, config::closed(0, 1e6),
          "CPUs, memory, NICs, switches and fans at load");
  f.field("nvme_read_gb_s", n.nvme_read_gb_s, config::closed(0, 1e6),
          "read bandwidth of its local NVMe drives together");
  f.field("nvme_write_gb_s", n.nvme_write_gb_s, config::closed(0, 1e6), "write bandwidth of them together");
}

}  // namespace

void check(const Node& n, const Complain& complain) {
  if (n.scale_up_domain > 1 && n.fabric.empty()) {
    complain("fabric", fmt::format("absent although GPUs share a scale-up domain of {}; name a fabric profile",
                                   n.scale_up_domain));
  }
  if (n.gpus > 0 && n.scale_up_domain > n.gpus && n.scale_up_domain % n.gpus != 0) {
    complain("scale_up_domain",
             fmt::format("{} is no multiple of {} per node", n.scale_up_domain, core::counted(n.gpus, "GPU")));
  }
  if (n.scale_up_domain > 0 && n.scale_up_domain < n.gpus && n.gpus % n.scale_up_domain != 0) {
    complain("scale_up_domain",
             fmt::format("{} does not divide {} per node", n.scale_up_domain, core::counted(n.gpus, "GPU")));
  }
  Node copy = n;
  check_origin(number_keys([&copy](config::Fields& f) { numbers(f, copy); }), n.origin, complain);
}

void describe(config::Fields& f, Node& n) {
  f.required("name", n.name, "name users write");
  f.required("gpu", n.gpu, "name of a GPU profile");
  numbers(f, n);
  f.field("fabric", n.fabric, "name of the fabric profile of the scale-up domain");
  f.field("note", n.note, "what the numbers leave out");
  f.required("origin", n.origin, "source and kind of every number");
  if (f.reading()) check(n, [&f](std::string_view key, const std::string& message) { f.problem(key, message); });
}

}  // namespace servecast::hardware
