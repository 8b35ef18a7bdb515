// How many sequences every request grows from its prompt, and which beams survive a step.
//
// Parallel sampling: sequences of equal length that never meet again. Beam search: after every step each beam, on its
// own, continues another beam of the step before with probability `turnover`, chosen uniformly among all beams (itself
// included), and its own past otherwise. Two beams at the same place in the text then share an ancestor about
// width / (2 x turnover) tokens back for small turnovers: 0 is parallel sampling, 1 a Wright-Fisher population.
// A request's draws depend on (seed, request, step) alone.
#pragma once

#include "core/random.hpp"
#include "workload/request.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <vector>

namespace servecast::engine {

struct Branching {
  std::int32_t sequences = 1;
  bool beam = false;
  double turnover = 0;
  std::uint64_t seed = 0;
};

class Ancestors {
 public:
  Ancestors(const Branching& branching, workload::RequestId id)
      : turnover_(branching.turnover), random_(branching.seed, fmt::format("engine/beams/{}", id.value)) {}

  // Fills `parents` with the beam that each beam continues.
  void draw(std::vector<std::int32_t>& parents) {
    for (std::size_t i = 0; i < parents.size(); ++i) {
      const bool moves = random_.uniform() < turnover_;
      parents[i] = static_cast<std::int32_t>(moves ? random_.below(parents.size()) : i);
    }
  }

 private:
  double turnover_;
  core::Random random_;
};

}  // namespace servecast::engine
