// What mixers with a recurrent state cost (Mamba-2, gated delta rules): their projections, the kernels that tokens pass
// through, and per block the reading and writing of states. FLOPs count a multiply-add as 2. Decode updates the state
// of every sequence once; prefill works chunk by chunk inside a prompt (SSD, arXiv 2405.21060 section 6; the chunked
// delta rule, arXiv 2412.06464 section 3.3) and reads and writes the state once per chunk of the scheduler. Everything
// here is derived from the architecture; no kernel table measures it.
#pragma once

#include "model/state_mixer.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace servecast::cost {

struct StateProjection {
  std::string_view name;
  double n = 0;  // widths of the output and of the input on this rank
  double k = 0;
};

// As kernels fuse them.
std::vector<StateProjection> state_projections(const model::StateMixer& s, double hidden, std::int32_t tensor);

// Of one block on one rank. Elements are read or written once per token.
struct StateWork {
  double convolution_elements = 0;
  double update_elements = 0;  // inputs and outputs of the update, the state itself not among them
  double norm_elements = 0;
  double state_bytes = 0;    // of one sequence: recurrent state and convolution window
  double prefill_flops = 0;  // per token, on tensor cores
};

StateWork state_work(const model::StateMixer& s, std::int32_t tensor);

}  // namespace servecast::cost
