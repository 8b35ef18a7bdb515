// How many sequences every request grows from its prompt, and which beams survive a step.
//
// Parallel sampling: sequences of equal length that never meet again. Beam search: after every step each beam, on its
// own, continues another beam of the step before with probability `turnover`, chosen uniformly among all beams (itself
// included), and its own past otherwise. Two beams at the same place in the text then share an ancestor about
// width / (2 x turnover) tokens back for small turnovers: 0 is parallel sampling, 1 a Wright-Fisher population.
// A request's draws depend on (seed, request) alone.
#pragma once

#include "core/random.hpp"
#include "workload/request.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace servecast::engine {

struct Branching {
  std::int32_t sequences = 1;
  bool beam = false;
  double turnover = 0;
  std::uint64_t seed = 0;
};

// Beams one after the other, step after step, are trials of equal chance to move: only how many stay between two that
// move is drawn, so that a step without moves costs nothing.
class Ancestors {
 public:
  // Requires: a beam search.
  Ancestors(const Branching& branching, workload::RequestId id)
      : random_(branching.seed, fmt::format("engine/beams/{}", id.value)), width_(branching.sequences) {
    const double moves = branching.turnover * static_cast<double>(width_ - 1) /
                         static_cast<double>(width_);  // to another beam than itself
    log_stays_ = moves > 0 ? std::log1p(-moves) : 0;
    staying_ = draw_staying();
  }

  // One step. True: some beam continues another one's past, and `parents` says for each beam whose.
  bool draw(std::vector<std::int32_t>& parents) {
    if (staying_ >= width_) {
      staying_ -= width_;
      return false;
    }
    for (std::int32_t i = 0; i < width_; ++i) parents[static_cast<std::size_t>(i)] = i;
    std::int64_t beam = staying_;
    for (; beam < width_; beam += 1 + draw_staying()) {
      const auto other = static_cast<std::int32_t>(random_.below(static_cast<std::uint64_t>(width_ - 1)));
      parents[static_cast<std::size_t>(beam)] = other + (other >= beam ? 1 : 0);
    }
    staying_ = beam - width_;
    return true;
  }

 private:
  static constexpr double longest_stay = 1e15;  // trials; far beyond any run

  // Geometric, by inversion.
  std::int64_t draw_staying() {
    if (log_stays_ == 0) return static_cast<std::int64_t>(longest_stay);
    return static_cast<std::int64_t>(std::min(longest_stay, std::log(random_.uniform_open()) / log_stays_));
  }

  core::Random random_;
  std::int64_t width_;
  double log_stays_ = 0;      // of the chance that a beam goes on with its own past; 0: it always does
  std::int64_t staying_ = 0;  // trials until the next beam that moves
};

}  // namespace servecast::engine
