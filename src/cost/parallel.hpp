// How one replica is split over GPUs, and which splits a model allows.
#pragma once

#include "core/error.hpp"
#include "model/architecture.hpp"

#include <cstdint>
#include <string>

namespace servecast::config {
class Fields;
}

namespace servecast::cost {

struct Parallel {
  std::int32_t tensor = 1;
  std::int32_t pipeline = 1;
  std::int32_t data = 1;
  std::int32_t expert = 1;
  std::int32_t decode_context = 1;  // of the tensor ranks

  std::int32_t gpus() const { return tensor * pipeline * data; }
};

void describe(config::Fields& f, Parallel& p);

// Refuses, by name, the kinds of parallelism without a cost model: all but tensor.
void check_supported(const Parallel& p, core::Problems& problems, const std::string& place);

// Tensor parallelism must divide heads and widths evenly; KV heads are divided or replicated. A vocabulary is padded.
// most: GPUs to choose from, for the sizes that the message offers.
void check_parallel(const model::Architecture& a, std::int32_t tensor, std::int32_t most, core::Problems& problems,
                    const std::string& place);
// The sizes up to `most` that split the model, as text: "1, 2, 4 or 8".
std::string tensor_sizes(const model::Architecture& a, std::int32_t most);

}  // namespace servecast::cost
