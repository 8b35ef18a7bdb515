#include "cluster/router.hpp"
#include "core/random.hpp"

namespace servecast::cluster {
namespace {

class PowerOfTwo final : public Router {
 public:
  explicit PowerOfTwo(std::uint64_t seed) : random_(seed, "router/power-of-two") {}
  std::size_t route(const RequestView&, std::span<const engine::Load> loads, std::size_t targets) override {
    const auto first = static_cast<std::size_t>(random_.below(targets));
    const auto second = static_cast<std::size_t>(random_.below(targets));
    const auto size = [&loads](std::size_t i) { return loads[i].waiting + loads[i].running; };
    return size(second) < size(first) ? second : first;
  }
  bool needs_loads() const override { return true; }

 private:
  core::Random random_;
};

}  // namespace

std::unique_ptr<Router> make_power_of_two(std::uint64_t seed) { return std::make_unique<PowerOfTwo>(seed); }

}  // namespace servecast::cluster
