#include "cluster/router.hpp"

namespace servecast::cluster {
namespace {

class LeastLoaded final : public Router {
 public:
  std::size_t route(const RequestView&, std::span<const engine::Load> loads, std::size_t targets) override {
    std::size_t best = 0;
    for (std::size_t i = 1; i < targets; ++i) {
      if (loads[i].waiting + loads[i].running < loads[best].waiting + loads[best].running) best = i;
    }
    return best;
  }
  bool needs_loads() const override { return true; }
};

}  // namespace

std::unique_ptr<Router> make_least_loaded() { return std::make_unique<LeastLoaded>(); }

}  // namespace servecast::cluster
