#include "model/architecture.hpp"

#include "core/units.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace servecast::model {
namespace {

void check_heads(const Attention& a, const Complain& complain) {
  if (a.heads <= 0 || a.kv_heads <= 0) return;  // reported as absent or out of range
  if (a.heads % a.kv_heads != 0) {
    complain("attention/kv_heads",
             fmt::format("{} does not divide {}", a.kv_heads, core::counted(a.heads, "query head")));
  }
  if (a.kind == AttentionKind::Gqa && a.head_dim == 0) {
    complain("attention/head_dim", "absent; gqa attention needs the width of a head");
  }
}

void check_mla(const Attention& a, const Complain& complain) {
  const bool any = a.q_lora_rank > 0 || a.kv_lora_rank > 0 || a.qk_nope_dim > 0 || a.qk_rope_dim > 0 || a.v_dim > 0;
  if (a.kind == AttentionKind::Gqa) {
    if (any) complain("attention/kind", "gqa with MLA widths; set kind to \"mla\" or drop them");
    if (a.indexer_heads > 0) complain("attention/indexer_heads", "only sparse MLA has an indexer; drop the key");
    return;
  }
  const auto needed = [&](std::string_view key, std::int32_t value) {
    if (value == 0) complain(fmt::format("attention/{}", key), "absent; mla attention needs it");
  };
  needed("kv_lora_rank", a.kv_lora_rank);
  needed("qk_nope_dim", a.qk_nope_dim);
  needed("qk_rope_dim", a.qk_rope_dim);
  needed("v_dim", a.v_dim);
  if (a.window > 0) complain("attention/window", "windows with mla attention are not supported; drop the key");
  if ((a.indexer_heads > 0) != (a.indexer_dim > 0) || (a.indexer_heads > 0) != (a.indexer_top_k > 0)) {
    complain("attention/indexer_heads", "indexer_heads, indexer_dim and indexer_top_k go together; give all or none");
  }
  if (a.indexer_heads > 0 && a.q_lora_rank == 0) {
    complain("attention/q_lora_rank", "absent; the indexer reads the compressed query");
  }
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
  if (a.window_is_chunk && a.window == 0) {
    complain("attention/window_is_chunk", "given without a window; give the chunk's size as window");
  }
}

void check_moe(const Architecture& m, const Complain& complain) {
  const std::int32_t moe_layers = m.moe ? m.moe->layers : 0;
  if (m.dense_layers + moe_layers != m.layers) {
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

void check(const Architecture& a, const Complain& complain) {
  check_heads(a.attention, complain);
  check_mla(a.attention, complain);
  check_window(a, complain);
  check_moe(a, complain);
  check_statistics(a, complain);
  if (a.dense_layers > 0 && a.intermediate == 0) complain("intermediate", "absent although there are dense layers");
}

}  // namespace servecast::model
