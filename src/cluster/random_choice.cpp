#include "cluster/router.hpp"
#include "core/random.hpp"

namespace servecast::cluster {
namespace {

class RandomChoice final : public Router {
 public:
  explicit RandomChoice(std::uint64_t seed) : random_(seed, "router/random") {}
  std::size_t route(const RequestView&, std::span<const engine::Load>, std::size_t targets) override {
    return static_cast<std::size_t>(random_.below(targets));
  }

 private:
  core::Random random_;
};

}  // namespace

std::unique_ptr<Router> make_random(std::uint64_t seed) { return std::make_unique<RandomChoice>(seed); }

}  // namespace servecast::cluster
