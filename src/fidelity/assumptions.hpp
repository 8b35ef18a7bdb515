// What a measured row leaves unsaid, by engine and version: formats, KV cache, limits of a step. Inferences from the
// measurements, never per row or per model: a value here holds for whatever an engine of that version serves. Also the
// client settings that a few benchmark series imply, which apply only when asked for.
#pragma once

#include "fidelity/measured.hpp"
#include "fidelity/names.hpp"
#include "hardware/gpu.hpp"
#include "model/architecture.hpp"
#include "scenario/scenario.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace servecast::fidelity {

struct Deployment {
  EngineNamed engine;
  std::string model_text;  // as the row writes it
  const model::Architecture* model = nullptr;
  std::string gpu_architecture;      // "hopper", "blackwell"
  std::string weights, experts, kv;  // columns; empty: not stated
};

// Formats of a row; nothing: a column says something that no format stands for.
std::optional<scenario::Precision> precision_of(const Deployment& d);

struct Load {
  std::int64_t isl = 0;
  std::int64_t osl = 0;
  std::int64_t concurrency = 0;
};

engine::Settings settings_of(const Deployment& d, const Load& load);

// Requests of an offline run by length, as TensorRT-LLM's published figures count them.
std::int64_t offline_requests(const Load& load);

// Bounds of a uniform length in a closed loop: 80-100 % for the pairs of 1,024 and 8,192 tokens, else fixed.
bool lengths_vary(const Load& load);

RowOptions client_settings(const Deployment& d, const Load& load, std::int32_t tensor);

}  // namespace servecast::fidelity
