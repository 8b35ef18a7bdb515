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

}  // namespace servecast::model
