#include "model/hf_config.hpp"

#include "config/document.hpp"
#include "config/json_reader.hpp"
#include "config/parse.hpp"
#include "model/hf_families.hpp"
#include "model/hf_quantization.hpp"
#include "model/hf_view.hpp"
#include "model/model_file.hpp"

#include <fmt/core.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace servecast::model {
namespace {

using nlohmann::json;

constexpr int deepest_nesting = 32;

std::unique_ptr<HfView> to_view(const json& object, int depth);

void add_list(const std::string& key, const json& list, int depth, HfView& view) {
  if (std::all_of(list.begin(), list.end(), [](const json& v) { return v.is_string(); })) {
    view.text_lists[key] = list.get<std::vector<std::string>>();
  } else if (std::all_of(list.begin(), list.end(), [](const json& v) { return v.is_number(); })) {
    view.number_lists[key] = list.get<std::vector<double>>();
  } else if (depth < deepest_nesting &&
             std::all_of(list.begin(), list.end(), [](const json& v) { return v.is_object(); })) {
    for (const json& object : list) view.object_lists[key].push_back(to_view(object, depth + 1));
  }
}

std::unique_ptr<HfView> to_view(const json& object, int depth) {
  auto view = std::make_unique<HfView>();
  for (const auto& [key, value] : object.items()) {
    if (value.is_boolean()) view->flags[key] = value.get<bool>();
    if (value.is_string()) view->texts[key] = value.get<std::string>();
    if (value.is_array() && !value.empty()) add_list(key, value, depth, *view);
    if (value.is_object() && depth < deepest_nesting) view->objects[key] = to_view(value, depth + 1);
    if (value.is_number() && std::isfinite(value.get<double>())) view->numbers[key] = value.get<double>();
  }
  return view;
}

// Python writes Infinity and NaN, which JSON lacks; no count has such a value, so they become null, padded so
// that errors behind an infinity keep their column.
std::string without_python_numbers(std::string_view text) {
  std::string plain;
  plain.reserve(text.size());
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::size_t skip = 0;
    for (const std::string_view word : {"-Infinity", "Infinity", "NaN"}) {
      if (!quoted && skip == 0 && text.substr(i, word.size()) == word) skip = word.size();
    }
    if (skip > 0) {
      plain += "null";
      plain.append(skip > 4 ? skip - 4 : 0, ' ');
      i += skip - 1;
      continue;
    }
    if (quoted && text[i] == '\\' && i + 1 < text.size())
      plain += text[i++];
    else if (text[i] == '"')
      quoted = !quoted;
    plain += text[i];
  }
  return plain;
}

std::unique_ptr<HfView> parse(std::string_view text, const std::string& place, core::Problems& problems) {
  json document;
  if (!config::parse(without_python_numbers(text), place, document, problems)) return nullptr;
  if (!document.is_object()) {
    problems.add(place, "is no JSON object; give the config.json of a Hugging Face model");
    return nullptr;
  }
  return to_view(document, 0);
}

void refuse(HfReading& r, const std::string& model_type) {
  for (const HfRefusal& refusal : hf_refusals()) {
    if (refusal.model_type == model_type) {
      r.problem("model_type", fmt::format("\"{}\" is not supported: {}", model_type, refusal.reason));
      return;
    }
  }
  r.problem("model_type", fmt::format("\"{}\" is not supported; supported are {}", model_type,
                                      fmt::join(supported_hf_families(), ", ")));
}

void note_left_out(const HfView& outer, std::vector<std::string>& notes) {
  for (const auto& [key, object] : outer.objects) {
    if (key == "vision_config" || key == "audio_config") {
      notes.push_back(
          fmt::format("{}: that tower is left out; parameters and memory are those of the text model", key));
    }
  }
}

// The text model of a multimodal wrapper, or the document itself.
HfReading text_model(const HfView& outer, const HfFiles& files, core::Problems& problems, ImportResult& result) {
  if (const HfView* inner = outer.object("text_config")) {
    note_left_out(outer, result.notes);
    result.notes.push_back(
        fmt::format("\"{}\" wraps a text model, which is what was imported", outer.text("model_type")));
    return {*inner, files.place, "/text_config", problems, result.notes, &outer};
  }
  return {outer, files.place, "", problems, result.notes, &outer};
}

void read_formats(const HfView& outer, HfReading& r, const HfFiles& files, Architecture& a) {
  std::string dtype = r.view.text("torch_dtype");
  if (dtype.empty()) dtype = r.view.text("dtype");
  if (dtype.empty()) dtype = outer.text("torch_dtype");
  if (dtype.empty()) dtype = outer.text("dtype");
  precision::Format base = precision::Format::BFloat16;
  if (dtype == "float16") base = precision::Format::Float16;
  if (dtype == "float32") base = precision::Format::Float32;
  if (dtype.empty()) r.note("the configuration states no dtype; bf16 was assumed");
  a.formats = {base, base, base, base, base, base, std::nullopt};
  const HfView* inside = r.view.object("quantization_config");
  const std::string pointer = inside ? r.pointer : std::string();
  if (!inside) inside = outer.object("quantization_config");
  if (inside) {
    HfReading q{*inside, files.place, pointer + "/quantization_config", r.problems, r.notes, &outer};
    read_quantization(q, a);
    return;
  }
  if (files.quantization.empty()) return;
  const std::string place = files.place + " (hf_quant_config)";
  const std::unique_ptr<HfView> beside = parse(files.quantization, place, r.problems);
  if (!beside) return;
  const HfView* quantization = beside->object("quantization");
  HfReading q{
      quantization ? *quantization : *beside, place, quantization ? "/quantization" : "", r.problems, r.notes, &outer};
  read_quantization(q, a);
}

void read_family(const HfFamily& family, HfReading& r, const HfView& outer, const HfFiles& files, Architecture& a) {
  const std::size_t before = r.problems.lines().size();
  family.read(r, a);
  if (&r.view != &outer && !r.view.has("tie_word_embeddings")) {
    a.tied_embeddings = outer.flag("tie_word_embeddings", a.tied_embeddings);
  }
  if (r.problems.lines().size() > before) return;
  // What is imported must be a legal model file: ranges and cross-field rules are those of describe().
  Architecture again;
  config::read(config::Document::from_text(model_file(a), files.place + ", as a model file"), again, r.problems);
  if (r.problems.lines().size() > before) return;
  read_formats(outer, r, files, a);
  if (a.mtp_layers > 0) r.note("multi-token-prediction layers are named but not counted in parameters and memory");
}

}  // namespace

std::vector<std::string_view> supported_hf_families() {
  std::vector<std::string_view> names;
  for (const HfFamily& family : hf_families()) names.push_back(family.model_type);
  return names;
}

ImportResult import_hf_config(const HfFiles& files, core::Problems& problems) {
  ImportResult result;
  const std::unique_ptr<HfView> outer = parse(files.config, files.place, problems);
  if (!outer) return result;
  HfReading r = text_model(*outer, files, problems, result);
  std::string model_type = r.view.text("model_type");
  if (model_type.empty()) model_type = outer->text("model_type");
  if (model_type.empty()) {
    r.problem("model_type", "absent; it names the family");
    return result;
  }
  Architecture& a = result.architecture;
  a.name = model_type;
  a.family = model_type;
  a.source = fmt::format("imported from {}", files.place);
  const auto families = hf_families();
  const auto family =
      std::find_if(families.begin(), families.end(), [&](const HfFamily& f) { return f.model_type == model_type; });
  if (family == families.end()) {
    refuse(r, model_type);
  } else {
    read_family(*family, r, *outer, files, a);
  }
  return result;
}

ImportResult import_hf_config(std::string_view json_text, std::string place, core::Problems& problems) {
  return import_hf_config(HfFiles{json_text, std::move(place), {}}, problems);
}

}  // namespace servecast::model
