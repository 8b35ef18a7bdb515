// Names that measured rows use for models, GPUs and engines, mapped to those of this project. The one table of them.
// Case never matters, nor does an owner before '/' or a suffix for tuning or number format.
#pragma once

#include "precision/format.hpp"
#include "scenario/stack.hpp"

#include <compare>
#include <optional>
#include <string>
#include <string_view>

namespace servecast::fidelity {

std::string lower_case(std::string_view text);

// Why a name has no document, or the document's name.
struct Named {
  std::string name;
  std::string refused;  // empty: name is valid
};

// "meta-llama/Llama-3.1-8B-Instruct" -> "llama-3.1-8b".
Named model_named(std::string_view text);
// "NVIDIA H100 80GB" -> node "hgx-h100".
Named node_named(std::string_view text);

// major.minor of a version, compared as numbers; {-1, -1}: none.
struct Version {
  int major = -1;
  int minor = -1;
  auto operator<=>(const Version&) const = default;
};

struct EngineNamed {
  std::optional<scenario::Engine> engine;  // none: no stack can stand for it
  std::string version;                     // empty: not stated
  Version number;
};

// "vllm 0.19.0", "TensorRT-LLM >=1.1", "TensorRT 10.2.0, CUDA 12.4" (the version is then the compiler's, not the
// engine's).
EngineNamed engine_named(std::string_view text);

}  // namespace servecast::fidelity
