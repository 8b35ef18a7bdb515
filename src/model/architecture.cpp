#include "model/architecture.hpp"

#include "core/units.hpp"
#include "model/block_rules.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace servecast::model {
namespace {

// Of one attention; complain takes keys inside it.
void check_heads(const Attention& a, const Complain& complain) {
  if (a.heads <= 0 || a.kv_heads <= 0) return;  // reported as absent or out of range
  if (a.heads % a.kv_heads != 0) {
    complain("kv_heads", fmt::format("{} does not divide {}", a.kv_heads, core::counted(a.heads, "query head")));
  }
  if (a.kind == AttentionKind::Gqa && a.head_dim == 0) {
    complain("head_dim", "absent; gqa attention needs the width of a head");
  }
}

void check_indexer(const Attention& a, const Complain& complain) {
  const bool own = a.indexer_heads > 0;
  if (own != (a.indexer_dim > 0) || (own && a.indexer_top_k == 0)) {
    complain("indexer_heads", "indexer_heads, indexer_dim and indexer_top_k go together; give all or none");
  }
  if (own && a.q_lora_rank == 0) complain("q_lora_rank", "absent; the indexer reads the compressed query");
}

void check_mla(const Attention& a, const Complain& complain) {
  const bool any = a.q_lora_rank > 0 || a.kv_lora_rank > 0 || a.qk_nope_dim > 0 || a.qk_rope_dim > 0;
  if (a.kind == AttentionKind::Gqa) {
    if (any) complain("kind", "gqa with MLA widths; set kind to \"mla\" or drop them");
    if (a.indexer_heads > 0 || a.indexer_top_k > 0)
      complain("indexer_heads", "only sparse MLA has an indexer; drop the key");
    if (a.values_are_keys && value_width(a) != a.head_dim)
      complain("values_are_keys", "keys and values of one projection are equally wide; drop v_dim");
    return;
  }
  const auto needed = [&](std::string_view key, std::int32_t value) {
    if (value == 0) complain(key, "absent; mla attention needs it");
  };
  needed("kv_lora_rank", a.kv_lora_rank);
  needed("qk_nope_dim", a.qk_nope_dim);
  needed("qk_rope_dim", a.qk_rope_dim);
  needed("v_dim", a.v_dim);
  if (a.window > 0) complain("window", "windows with mla attention are not supported; drop the key");
  check_indexer(a, complain);
}

void check_window(const Architecture& m, const Complain& complain) {
  const Attention& a = m.attention;
  if ((a.window > 0) != (a.windowed_layers > 0)) {
    complain("attention/windowed_layers", "window and windowed_layers go together; give both or none");
  }
  if (a.windowed_layers > m.layers) {
    complain("attention/windowed_layers",
             fmt::format("{} exceeds {}", a.windowed_layers, core::counted(m.layers, "layer")));
  }
}

void check_moe(const Architecture& m, const Complain& complain) {
  const std::int32_t moe_layers = m.moe ? m.moe->layers : 0;
  if (!m.blocks && m.dense_layers + moe_layers != m.layers) {
    complain("dense_layers", fmt::format("{} dense and {} do not add up to {}", m.dense_layers,
                                         core::counted(moe_layers, "MoE layer"), core::counted(m.layers, "layer")));
  }
  if (m.moe_interleaved && m.dense_layers != moe_layers) {
    complain("moe_interleaved",
             fmt::format("alternating blocks need as many dense ({}) as MoE layers ({})", m.dense_layers, moe_layers));
  }
  if (!m.moe) return;
  const Moe& e = *m.moe;
  if (e.top_k > e.experts)
    complain("moe/top_k", fmt::format("{} exceeds {}", e.top_k, core::counted(e.experts, "expert")));
  if (e.groups > 0 && e.experts % e.groups != 0) {
    complain("moe/groups", fmt::format("{} does not divide {}", e.groups, core::counted(e.experts, "expert")));
  }
  if (e.top_groups > e.groups) complain("moe/top_groups", fmt::format("{} exceeds {} groups", e.top_groups, e.groups));
  if ((e.shared_experts > 0) != (e.shared_intermediate > 0)) {
    complain("moe/shared_intermediate", "shared_experts and shared_intermediate go together; give both or none");
  }
  if (e.shared_gate && e.shared_experts == 0)
    complain("moe/shared_gate", "given without a shared expert; drop the key");
}

void check_statistics(const Architecture& m, const Complain& complain) {
  if (!m.tensor_statistics) return;
  std::vector<int> seen(static_cast<std::size_t>(std::max(0, m.layers)));
  for (const LayerStatistics& l : m.tensor_statistics->layers)
    for (std::int64_t i = l.first; i < std::int64_t{l.first} + l.count; ++i) {
      if (i >= m.layers) {
        complain("tensor_statistics/layers",
                 fmt::format("block {} is beyond the model's {}", i, core::counted(m.layers, "layer")));
        return;
      }
      ++seen[static_cast<std::size_t>(i)];
    }
  for (std::size_t i = 0; i < seen.size(); ++i)
    if (seen[i] != 1) {
      complain("tensor_statistics/layers",
               fmt::format("block {} is described {} times; describe every block once", i, seen[i]));
      return;
    }
}

}  // namespace

void check_attention(const Attention& a, const Complain& complain) {
  check_heads(a, complain);
  check_mla(a, complain);
  if (a.window_is_chunk && a.window == 0) {
    complain("window_is_chunk", "given without a window; give the chunk's size as window");
  }
}

void check(const Architecture& a, const Complain& complain) {
  check_attention(a.attention, [&](std::string_view key, const std::string& message) {
    complain(fmt::format("attention/{}", key), message);
  });
  if (!a.blocks) check_window(a, complain);
  check_moe(a, complain);
  check_statistics(a, complain);
  if (a.blocks) {
    check_blocks(a, complain);
  } else {
    if (a.dense_layers > 0 && a.intermediate == 0) complain("intermediate", "absent although there are dense layers");
    if (a.attention.indexer_top_k > 0 && a.attention.indexer_heads == 0)
      complain("attention/indexer_heads", "absent although tokens are selected; give the indexer");
    if (a.state) complain("state", "given without blocks, which say where it is; give the kinds and their order");
    if (a.encoder_tokens > 0)
      complain("encoder_tokens", "given without blocks that attend to an encoder; drop the key");
  }
}

}  // namespace servecast::model
