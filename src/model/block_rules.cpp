#include "model/block_rules.hpp"

#include "core/units.hpp"
#include "model/blocks.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace servecast::model {
namespace {

void check_kind(const Architecture& a, const BlockKind& k, const Complain& complain) {
  const bool attention = k.mixer == Mixer::Attention || k.mixer == Mixer::Cross;
  if (k.letter.size() != 1) complain("letter", fmt::format("\"{}\" is not one character", k.letter));
  if (k.attention && !attention) complain("attention", "given although the kind has none; drop the key");
  if (k.attention) {
    check_attention(*k.attention, [&](std::string_view key, const std::string& message) {
      complain(fmt::format("attention/{}", key), message);
    });
    if (k.attention->windowed_layers > 0)
      complain("attention/windowed_layers", "a window holds for every block of a kind; drop the key");
  }
  if (k.mixer == Mixer::State && !a.state) complain("mixer", "\"state\" although the model states none; give state");
  if (k.mixer == Mixer::Cross && a.encoder_tokens == 0)
    complain("mixer", "\"cross\" needs encoder_tokens; give the tokens of the encoder");
  if (k.feed_forward == FeedForward::Experts && !a.moe)
    complain("feed_forward", "\"experts\" although the model states none; give moe");
  if (k.feed_forward == FeedForward::Dense && k.intermediate == 0 && a.intermediate == 0)
    complain("intermediate", "absent, of the kind and of the model");
}

void check_order(const Architecture& a, const Complain& complain) {
  const std::string& order = a.blocks->order;
  if (static_cast<std::int64_t>(order.size()) != a.layers) {
    complain("blocks/order", fmt::format("has {}, but there are {}", core::counted(order.size(), "letter"),
                                         core::counted(a.layers, "layer")));
  }
  for (const char letter : order) {
    const auto of_letter = [&](const BlockKind& k) { return k.letter.size() == 1 && k.letter[0] == letter; };
    if (std::count_if(a.blocks->kinds.begin(), a.blocks->kinds.end(), of_letter) == 1) continue;
    complain("blocks/order", fmt::format("\"{}\" stands for no kind, or for several", letter));
    return;
  }
}

void check_counts(const Architecture& a, const Complain& complain) {
  const Blocks b = blocks_of(a);
  const std::int32_t dense = b.feed_forwards() - b.experts;
  if (dense != a.dense_layers)
    complain("dense_layers", fmt::format("{}, but the blocks have {}", a.dense_layers, dense));
  if (const std::int32_t stated = a.moe ? a.moe->layers : 0; b.experts != stated)
    complain(a.moe ? "moe/layers" : "blocks", fmt::format("{} MoE layers, but the blocks have {}", stated, b.experts));
  std::int32_t window = 0;
  for (const AttentionBlocks& g : b.attention)
    if (g.attention->kind != b.attention[0].attention->kind)
      return complain("blocks/kinds", "gqa and mla attention in one model are not supported");
  for (const AttentionBlocks& g : b.attention) {
    const std::int32_t seen = g.attention->indexer_top_k > 0 ? g.attention->indexer_top_k : g.attention->window;
    if (window > 0 && seen > 0 && seen != window)
      complain("blocks/kinds", fmt::format("windows of {} and of {} in one model are not supported", window, seen));
    window = std::max(window, seen);
  }
}

}  // namespace

void check_blocks(const Architecture& a, const Complain& complain) {
  bool sound = true;
  const Complain watched = [&](std::string_view key, const std::string& message) {
    sound = false;
    complain(key, message);
  };
  if (a.moe_interleaved) watched("moe_interleaved", "the order of blocks says where experts are; drop the key");
  if (a.attention.windowed_layers > 0)
    watched("attention/windowed_layers", "a window holds for every block of a kind; drop the key");
  for (std::size_t i = 0; i < a.blocks->kinds.size(); ++i) {
    check_kind(a, a.blocks->kinds[i], [&](std::string_view key, const std::string& message) {
      watched(fmt::format("blocks/kinds/{}/{}", i, key), message);
    });
  }
  check_order(a, watched);
  if (sound) check_counts(a, complain);
}

}  // namespace servecast::model
