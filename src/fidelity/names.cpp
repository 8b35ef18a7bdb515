#include "fidelity/names.hpp"

#include "core/error.hpp"
#include "scenario/library.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <utility>

namespace servecast::fidelity {

namespace {

using Pair = std::pair<std::string_view, std::string_view>;

// What a checkpoint's name adds to its architecture's: tuning, number format, packaging, accuracy class of a benchmark.
constexpr std::array<std::string_view, 12> suffixes = {
    "-fp8", "-nvfp4", "-fp4", "-mxfp4", "-int4", "-awq", "-instruct", "-instruct-2507", "-2507", "-hf", "-99.9", "-99"};

// Names whose architecture has a document under another one: the same tensors, other weights or context.
constexpr std::array<Pair, 8> aliases = {
    Pair{"llama-3.3-70b", "llama-3.1-70b"},  Pair{"llama-3-70b", "llama-3.1-70b"},
    Pair{"llama-3-8b", "llama-3.1-8b"},      Pair{"llama3.1-8b", "llama-3.1-8b"},
    Pair{"llama2-70b", "llama-2-70b"},       Pair{"llama-4-scout-17b-16e", "llama-4-scout"},
    Pair{"deepseek-r1-0528", "deepseek-r1"}, Pair{"llama-4-maverick-17b-128e", "llama-4-maverick"}};

// Families that no architecture document can describe yet, and what they need.
constexpr std::array<Pair, 3> beyond = {
    Pair{"deepseek-v4", "attention over a compressed context is not modelled"},
    Pair{"minimax-m3", "block-sparse attention of this model is not modelled"},
    Pair{"step-3", "its configuration does not state all that its parameter count follows from"}};

constexpr std::array<Pair, 7> nodes = {Pair{"h100", "hgx-h100"}, Pair{"h200", "hgx-h200"},     Pair{"b200", "hgx-b200"},
                                       Pair{"b300", "hgx-b300"}, Pair{"gb200", "gb200-nvl72"}, Pair{"a100", "dgx-a100"},
                                       Pair{"h20", "hgx-h20"}};

std::string_view find_in(const auto& table, std::string_view key) {
  for (const auto& [from, to] : table)
    if (from == key) return to;
  return {};
}

std::string without_suffixes(std::string name) {
  for (bool cut = true; cut;) {
    cut = false;
    for (const std::string_view suffix : suffixes) {
      if (!name.ends_with(suffix) || name.size() == suffix.size()) continue;
      name.resize(name.size() - suffix.size());
      cut = true;
    }
  }
  return name;
}

Version number_of(std::string_view text) {
  const std::size_t at = text.find_first_of("0123456789");
  if (at == std::string_view::npos) return {};
  const std::string digits(text.substr(at));
  char* rest = nullptr;
  Version v;
  v.major = static_cast<int>(std::strtol(digits.c_str(), &rest, 10));
  v.minor = *rest == '.' ? static_cast<int>(std::strtol(rest + 1, nullptr, 10)) : 0;
  return v;
}

}  // namespace

std::string lower_case(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

Named model_named(std::string_view text) {
  std::string name = lower_case(text.substr(text.rfind('/') + 1));
  name = without_suffixes(std::move(name));
  if (name.starts_with("meta-")) name.erase(0, 5);
  if (const std::string_view alias = find_in(aliases, name); !alias.empty()) name = alias;
  if (scenario::find(scenario::Kind::Model, name)) return {name, ""};
  for (const auto& [family, why] : beyond)
    if (name.starts_with(family)) return {"", std::string(why)};
  return {"", "unknown model"};
}

Named node_named(std::string_view text) {
  std::string name = lower_case(text);
  if (name.starts_with("nvidia ")) name.erase(0, 7);
  if (name.starts_with("h20-3e")) return {"", "unknown GPU"};  // another memory than the H20 that has a profile
  const std::string word = name.substr(0, name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789"));
  const std::string_view node = find_in(nodes, word);
  if (node.empty() || !scenario::find(scenario::Kind::Node, node)) return {"", "unknown GPU"};
  return {std::string(node), ""};
}

EngineNamed engine_named(std::string_view text) {
  EngineNamed out;
  const std::string name = lower_case(text);
  const std::size_t space = name.find(' ');
  const std::string word = name.substr(0, space);
  std::string version = space == std::string::npos ? "" : name.substr(space + 1);
  if (word == "vllm") out.engine = scenario::Engine::Vllm;
  if (word == "sglang") out.engine = scenario::Engine::Sglang;
  if (word == "trtllm" || word == "trt-llm" || word == "tensorrt-llm") out.engine = scenario::Engine::Trtllm;
  if (word == "tensorrt") {
    out.engine = scenario::Engine::Trtllm;
    version.clear();
  }
  const bool stated =
      !version.empty() && (std::isdigit(static_cast<unsigned char>(version[0])) != 0 || version.starts_with(">="));
  if (stated) {
    out.version = version;
    out.number = number_of(version);
  }
  return out;
}

}  // namespace servecast::fidelity
