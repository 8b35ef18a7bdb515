// The families of Hugging Face configurations: how each names its counts. One reader per family fills an Architecture;
// families that cannot be expressed are listed with the reason.
#pragma once

#include "core/error.hpp"
#include "model/architecture.hpp"
#include "model/hf_view.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace servecast::model {

// A configuration being read. pointer is the JSON pointer of view inside the file.
struct HfReading {
  const HfView& view;
  std::string place;
  std::string pointer;
  core::Problems& problems;
  std::vector<std::string>& notes;
  const HfView* outer = nullptr;  // the whole configuration, of which view may be the text model

  void problem(std::string_view key, std::string message);
  void note(std::string text) { notes.push_back(std::move(text)); }
  // An integer in [0, 2^30]; a problem when malformed. required: a problem when absent.
  std::optional<std::int32_t> integer(std::string_view key);
  std::int32_t required(std::string_view key);
  std::int32_t integer_or(std::string_view key, std::int32_t otherwise);
};

struct HfFamily {
  std::string_view model_type;
  void (*read)(HfReading&, Architecture&);
};

struct HfRefusal {
  std::string_view model_type;
  std::string_view reason;
};

std::span<const HfFamily> hf_families();  // ascending by model_type
std::span<const HfRefusal> hf_refusals();

// Widths that every family names alike: layers, hidden, vocabulary, heads, positions, tied embeddings.
void read_common(HfReading& r, Architecture& a, bool tied_by_default);
void read_gqa(HfReading& r, Architecture& a);
// Windows given as a list of layer types; true if the list was there.
bool read_layer_types(HfReading& r, Architecture& a, std::string_view windowed_type);

// Experts of a block: their number, how many a token uses, their width.
struct RoutedKeys {
  std::string_view experts;
  std::string_view top_k = "num_experts_per_tok";
  std::string_view width = "moe_intermediate_size";
};
Moe read_routed(HfReading& r, const Architecture& a, const RoutedKeys& keys);
// Sigmoid or softmax; anything else is a problem.
Scoring read_scoring(HfReading& r, std::string_view key, std::string_view otherwise);

// Width of all shared experts together.
std::int32_t shared_width(HfReading& r, const Moe& e);

// Readers that live in their own files.
void read_deepseek(HfReading& r, Architecture& a);  // hf_mla_family.cpp
void read_mixtral(HfReading& r, Architecture& a);   // hf_moe.cpp from here
void read_qwen_moe(HfReading& r, Architecture& a);
void read_gpt_oss(HfReading& r, Architecture& a);
void read_glm4_moe(HfReading& r, Architecture& a);
void read_llama4(HfReading& r, Architecture& a);
void read_minimax_m2(HfReading& r, Architecture& a);
void read_qwen3_5(HfReading& r, Architecture& a);  // hf_state_families.cpp from here
void read_nemotron_h(HfReading& r, Architecture& a);
void read_kimi_linear(HfReading& r, Architecture& a);
void read_nemotron_nas(HfReading& r, Architecture& a);  // hf_kind_families.cpp from here
void read_gemma4(HfReading& r, Architecture& a);
void read_mimo_v2(HfReading& r, Architecture& a);
void read_mllama(HfReading& r, Architecture& a);

}  // namespace servecast::model
