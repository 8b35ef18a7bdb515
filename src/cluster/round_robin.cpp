#include "cluster/router.hpp"

namespace servecast::cluster {
namespace {

class RoundRobin final : public Router {
 public:
  std::size_t route(const RequestView&, std::span<const engine::Load>, std::size_t targets) override {
    return next_++ % targets;
  }

 private:
  std::size_t next_ = 0;
};

}  // namespace

std::unique_ptr<Router> make_round_robin() { return std::make_unique<RoundRobin>(); }

}  // namespace servecast::cluster
