// Formats that a precision policy chose, for results: by block, with the memory and the speed that follow, and what one
// format for all blocks would have given.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace servecast::metrics {

// Feed-forward parts of blocks [first, first + count).
struct PrecisionBlocks {
  std::int32_t first = 0;
  std::int32_t count = 0;
  std::string format;
  double quality_db = 0;  // signal over quantisation noise of weights or inputs, the lower one
};

struct PrecisionVariant {
  std::string format;                    // of every block; empty: as chosen
  double weights_bytes = 0;              // on one GPU
  std::optional<double> decode_step_us;  // of one typical step, the same for all variants
};

struct PrecisionUse {
  std::string policy;
  double quality_floor_db = 0;
  std::string statistics;  // where the distributions of values come from
  bool assumed = false;    // from nowhere but an assumption
  std::vector<PrecisionBlocks> blocks;
  PrecisionVariant chosen;
  std::vector<PrecisionVariant> uniform;  // narrowest format first
};

}  // namespace servecast::metrics
