#include "model/blocks.hpp"

#include <algorithm>

namespace servecast::model {
namespace {

void add_attention(Blocks& b, const Attention& a, bool cross) {
  const auto same = [&](const AttentionBlocks& g) { return g.attention == &a && g.cross == cross; };
  auto group = std::find_if(b.attention.begin(), b.attention.end(), same);
  if (group == b.attention.end()) group = b.attention.insert(group, {&a, 0, 0, cross});
  ++group->count;
  if (a.window > 0) ++group->windowed;
}

void add_block(Blocks& b, const Architecture& a, const BlockKind& k) {
  const bool attention = k.mixer == Mixer::Attention || k.mixer == Mixer::Cross;
  if (attention) add_attention(b, attention_of(a, k), k.mixer == Mixer::Cross);
  if (k.mixer == Mixer::State) ++b.state;
  if (k.feed_forward == FeedForward::Dense)
    add_dense(b.dense, {k.intermediate > 0 ? k.intermediate : a.intermediate, 1});
  if (k.feed_forward == FeedForward::Experts) ++b.experts;
  const int halves = (k.mixer != Mixer::None ? 1 : 0) + (k.feed_forward != FeedForward::None ? 1 : 0);
  b.norms += a.norms_per_layer * halves / 2;
}

}  // namespace

void add_dense(std::vector<DenseBlocks>& groups, const DenseBlocks& more) {
  const auto same = [&](const DenseBlocks& g) { return g.width == more.width; };
  auto group = std::find_if(groups.begin(), groups.end(), same);
  if (group == groups.end()) group = groups.insert(group, {more.width, 0});
  group->count += more.count;
}

std::int32_t Blocks::mixers() const {
  std::int32_t n = state;
  for (const AttentionBlocks& g : attention) n += g.count;
  return n;
}

std::int32_t Blocks::feed_forwards() const {
  std::int32_t n = experts;
  for (const DenseBlocks& g : dense) n += g.count;
  return n;
}

std::int32_t layers_in(const Architecture& a, const LayerRange& r) {
  return r.count < 0 ? a.layers - r.first : r.count;
}

std::int32_t moe_layers_in(const Architecture& a, const LayerRange& range) {
  if (!a.moe) return 0;
  if (a.blocks) return blocks_of(a, range).experts;
  const std::int32_t end = range.first + layers_in(a, range);
  if (a.moe_interleaved) return end / 2 - range.first / 2;  // blocks 1, 3, 5 ... have experts
  return std::max(0, end - std::max(range.first, a.dense_layers));
}

const BlockKind* kind_of(const Architecture& a, std::int32_t layer) {
  if (!a.blocks || layer < 0 || static_cast<std::size_t>(layer) >= a.blocks->order.size()) return nullptr;
  const char letter = a.blocks->order[static_cast<std::size_t>(layer)];
  for (const BlockKind& k : a.blocks->kinds)
    if (k.letter.size() == 1 && k.letter[0] == letter) return &k;
  return nullptr;
}

const Attention& attention_of(const Architecture& a, const BlockKind& kind) {
  return kind.attention ? *kind.attention : a.attention;
}

Blocks blocks_of(const Architecture& a, const LayerRange& range) {
  Blocks b;
  const std::int32_t layers = layers_in(a, range);
  if (a.blocks) {
    for (std::int32_t layer = range.first; layer < range.first + layers; ++layer)
      if (const BlockKind* k = kind_of(a, layer)) add_block(b, a, *k);
    return b;
  }
  b.attention.push_back({&a.attention, layers, a.attention.window > 0 ? a.attention.windowed_layers : 0, false});
  b.experts = moe_layers_in(a, range);
  if (layers > b.experts) b.dense.push_back({a.intermediate, layers - b.experts});
  b.norms = layers * a.norms_per_layer;
  return b;
}

}  // namespace servecast::model
