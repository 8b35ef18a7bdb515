// Reads a Hugging Face config.json of a supported family into an Architecture, and names what it cannot express. A
// multimodal wrapper gives its text model. Families whose layers this model cannot express are refused by name with the
// reason. Takes text, reads no files.
#pragma once

#include "core/error.hpp"
#include "model/architecture.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace servecast::model {

// place names the file for messages. quantization is the text of a hf_quant_config.json beside the config, or empty.
struct HfFiles {
  std::string_view config;
  std::string place;
  std::string_view quantization;
};

struct ImportResult {
  Architecture architecture;       // meaningful only if no problem was added; its name is the family, for the caller to
                                   // replace
  std::vector<std::string> notes;  // what was left out or assumed, one sentence each
};

ImportResult import_hf_config(const HfFiles& files, core::Problems& problems);
ImportResult import_hf_config(std::string_view json_text, std::string place, core::Problems& problems);

// model_type values that import_hf_config() accepts, ascending.
std::vector<std::string_view> supported_hf_families();

}  // namespace servecast::model
