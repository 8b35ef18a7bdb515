// The dynamic precision policy, in the manner of a transformer engine: the feed-forward part of every block (dense MLP,
// shared and routed experts, weights and inputs alike) gets the narrowest of NVFP4, FP8 and BF16 whose quality,
// measured with the codecs on the block's distributions, is not below a floor. Attention, router, LM head and embedding
// keep what their own class says. Formats that the GPU does not multiply are no candidates. A higher floor never gives
// a block a narrower format. What it does to answers of the model is not known here: the floor is about noise alone.
#pragma once

#include "hardware/gpu.hpp"
#include "model/architecture.hpp"
#include "precision/format.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace servecast::scenario {

// Assumed: 18 dB is what tensor-wide FP4 just misses on Gaussian values (17.5), and what block scales of 16 keep with
// 2 dB to spare (20.4): a block stays in NVFP4 as long as block scales do for it what they are for.
inline constexpr double default_quality_floor_db = 18;

// Blocks [first, first + count) of equal choice and quality.
struct BlockChoice {
  std::int32_t first = 0;
  std::int32_t count = 0;
  precision::Format format = precision::Format::BFloat16;
  double quality_db = 0;  // the lower one of weights and inputs, in that format
  bool below_floor = false;
};

struct PrecisionChoice {
  double floor_db = default_quality_floor_db;
  bool assumed = false;                                 // the model file states no distributions
  std::string source;                                   // of the distributions
  std::vector<precision::Format> candidates;            // narrowest first
  std::vector<BlockChoice> blocks;                      // in order
  std::vector<precision::Format> feed_forward() const;  // one per block
};

PrecisionChoice choose_precision(const model::Architecture& m, const hardware::Gpu& gpu, double floor_db);

// One per block: what choose_precision takes where the model file states nothing.
std::vector<model::LayerStatistics> assumed_statistics(std::int32_t layers);

// "2 blocks in fp8, 28 in nvfp4", in the order of first appearance.
std::string summary(const PrecisionChoice& choice);

}  // namespace servecast::scenario
