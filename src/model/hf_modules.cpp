#include "model/hf_modules.hpp"

#include "model/blocks.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace servecast::model {
namespace {

// '*' matches any run of characters. Linear apart from backtracking to the last star.
bool glob_matches(std::string_view pattern, std::string_view text) {
  std::size_t p = 0;
  std::size_t t = 0;
  std::size_t star = std::string_view::npos;
  std::size_t resume = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

std::string without_wrapper(std::string_view name) {
  constexpr std::string_view wrapper = "language_model.";
  std::string bare(name);
  if (const std::size_t at = bare.find(wrapper); at != std::string::npos) bare.erase(at, wrapper.size());
  return bare;
}

bool glob_covers(std::string_view pattern, std::string_view module) {
  for (std::size_t end = module.size(); end > 0; --end) {
    if ((end == module.size() || module[end] == '.') && glob_matches(pattern, module.substr(0, end))) return true;
  }
  return false;
}

// The alternatives of a "(a|b)" group, expanded; then ".*" and "\." as a glob.
std::vector<std::string> expand(const std::string& regex) {
  const std::size_t open = regex.find('(');
  const std::size_t close = regex.find(')', open == std::string::npos ? 0 : open);
  if (open == std::string::npos || close == std::string::npos) return {regex};
  std::vector<std::string> all;
  std::size_t from = open + 1;
  while (from <= close) {
    const std::size_t to = std::min(regex.find('|', from), close);
    all.push_back(regex.substr(0, open) + regex.substr(from, to - from) + regex.substr(close + 1));
    from = to + 1;
  }
  return all;
}

std::string regex_to_glob(std::string_view regex) {
  std::string glob;
  for (std::size_t i = 0; i < regex.size(); ++i) {
    if (regex.substr(i, 2) == ".*") {
      glob += '*';
      ++i;
    } else if (regex[i] == '\\' && i + 1 < regex.size()) {
      glob += regex[++i];
    } else if (regex[i] != '^' && regex[i] != '$') {
      glob += regex[i];
    }
  }
  return glob;
}

bool is_part(std::string_view word, std::string_view module) {
  for (std::size_t at = module.find(word); at != std::string_view::npos; at = module.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || module[at - 1] == '.') && (end == module.size() || module[end] == '.')) return true;
  }
  return false;
}

std::vector<std::string> under(const std::string& parent, std::initializer_list<std::string_view> names) {
  std::vector<std::string> all;
  for (const std::string_view name : names) all.push_back(fmt::format("{}.{}", parent, name));
  return all;
}

void name_mixer(const Architecture& a, const BlockKind& k, const std::string& block, ModuleNames& n) {
  const bool nemotron = a.family == "nemotron_h";
  const bool state = k.mixer == Mixer::State;
  if (k.mixer == Mixer::None) return;
  if (state && a.state->kind != StateKind::KimiDelta) {
    const std::string mixer = block + (nemotron ? ".mixer" : ".linear_attn");
    n.attention_inputs = nemotron ? under(mixer, {"in_proj"}) : under(mixer, {"in_proj_qkv", "in_proj_z"});
    n.attention_output = under(mixer, {"out_proj"});
    return;
  }
  const std::string mixer = block + (nemotron ? ".mixer" : k.mixer == Mixer::Cross ? ".cross_attn" : ".self_attn");
  const bool mla = !state && a.attention.kind == AttentionKind::Mla;
  n.attention_inputs = mla ? under(mixer, {"q_a_proj", "q_b_proj", "kv_a_proj_with_mqa", "kv_b_proj"})
                           : under(mixer, {"q_proj", "k_proj", "v_proj"});
  n.attention_output = under(mixer, {"o_proj"});
}

void name_feed_forward(const Architecture& a, const BlockKind& k, const std::string& block, ModuleNames& n) {
  const bool nemotron = a.family == "nemotron_h";
  const bool kimi = a.family == "kimi_linear";
  const auto matrices = [&](const std::string& parent) {
    return a.gated_mlp ? under(parent, {"gate_proj", "up_proj", "down_proj"}) : under(parent, {"up_proj", "down_proj"});
  };
  const bool experts = k.feed_forward == FeedForward::Experts;
  const std::string mlp = block + (nemotron ? ".mixer" : kimi && experts ? ".block_sparse_moe" : ".mlp");
  if (k.feed_forward == FeedForward::Dense) n.mlp = matrices(mlp);
  if (!experts) return;
  const std::string routed = (a.family == "gemma4_text" ? block : mlp) + ".experts.0";
  n.experts = kimi ? under(routed, {"w1", "w2", "w3"}) : matrices(routed);
  if (a.moe->shared_experts == 0) return;
  const bool plural = nemotron || kimi || a.attention.kind == AttentionKind::Mla;
  n.mlp = matrices(a.family == "gemma4_text" ? mlp : mlp + (plural ? ".shared_experts" : ".shared_expert"));
}

ModuleNames names_of_kind(const Architecture& a, const BlockKind& k, std::int32_t layer) {
  const std::string block = fmt::format("{}.layers.{}", a.family == "nemotron_h" ? "backbone" : "model", layer);
  ModuleNames n;
  name_mixer(a, k, block, n);
  name_feed_forward(a, k, block, n);
  return n;
}

}  // namespace

bool covers(std::string_view pattern, std::string_view module) {
  const std::string bare = without_wrapper(module);
  if (pattern.starts_with("re:")) {
    for (const std::string& one : expand(std::string(pattern.substr(3)))) {
      if (glob_covers(regex_to_glob(one), bare)) return true;
    }
    return false;
  }
  const std::string bare_pattern = without_wrapper(pattern);
  if (bare_pattern.find('.') == std::string::npos && bare_pattern.find('*') == std::string::npos) {
    return is_part(bare_pattern, bare);
  }
  return glob_covers(bare_pattern, bare);
}

ModuleNames module_names(const Architecture& a, std::int32_t layer) {
  if (const BlockKind* kind = kind_of(a, layer)) return names_of_kind(a, *kind, layer);
  const std::string block = fmt::format("model.layers.{}", layer);
  const bool llama4 = a.family == "llama4_text";
  const bool sparse = a.family == "mixtral" || a.family == "minimax_m2";
  const std::string mlp = block + (llama4 ? ".feed_forward" : sparse ? ".block_sparse_moe" : ".mlp");
  const bool has_experts = a.moe && (a.moe_interleaved ? layer % 2 == 1 : layer >= a.dense_layers);
  ModuleNames n;
  const bool mla = a.attention.kind == AttentionKind::Mla;
  n.attention_inputs = mla ? under(block + ".self_attn", {"q_a_proj", "q_b_proj", "kv_a_proj_with_mqa", "kv_b_proj"})
                           : under(block + ".self_attn", {"q_proj", "k_proj", "v_proj"});
  n.attention_output = under(block + ".self_attn", {"o_proj"});
  if (!has_experts) {
    n.mlp = under(mlp, {"gate_proj", "up_proj", "down_proj"});
    return n;
  }
  n.experts = sparse ? under(mlp + ".experts.0", {"w1", "w2", "w3"})
                     : under(mlp + ".experts.0", {"gate_proj", "up_proj", "down_proj"});
  if (a.moe->shared_experts > 0) {
    const bool singular = llama4 || a.family == "qwen2_moe";
    n.mlp = under(mlp + (singular ? ".shared_expert" : ".shared_experts"), {"gate_proj", "up_proj", "down_proj"});
  }
  return n;
}

}  // namespace servecast::model
