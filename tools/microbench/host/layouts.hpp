// Where things lie: index arithmetic shared by kernels, host references and tests. Everything is constexpr and 64-bit,
// so that nvcc uses it in kernels as it is (--expt-relaxed-constexpr). Offsets are in elements unless a name says
// bytes.
#pragma once

#include <cstdint>

namespace servecast::microbench::layout {

constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

// ---- paged KV cache: [block][token in block][kv head][head dim], keys and values in one buffer each
inline constexpr std::int64_t kv_block = 16;
constexpr std::int64_t blocks_of(std::int64_t tokens) { return ceil_div(tokens, kv_block); }

// Physical block of a sequence's logical block: neighbours of a sequence lie apart, as in a server that has run for a
// while. A permutation of [0, blocks): multiplication by a number prime to the count. Requires: 0 <= logical < blocks.
constexpr std::int64_t greatest_divisor(std::int64_t a, std::int64_t b) {
  return b == 0 ? a : greatest_divisor(b, a % b);
}
constexpr std::int64_t scatter_step(std::int64_t blocks) {
  std::int64_t step = blocks < 3 ? 1 : (blocks * 5) / 8 | 1;
  while (greatest_divisor(step, blocks) != 1) step += 2;
  return step;
}
constexpr std::int64_t scattered(std::int64_t logical, std::int64_t step, std::int64_t blocks) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(logical) * static_cast<std::uint64_t>(step) %
                                   static_cast<std::uint64_t>(blocks));
}
constexpr std::int64_t kv_offset(std::int64_t physical, std::int64_t token_in_block, std::int64_t kv_head,
                                 std::int64_t kv_heads, std::int64_t head_dim) {
  return ((physical * kv_block + token_in_block) * kv_heads + kv_head) * head_dim;
}

// ---- attention rows: the queries of one kv head, all heads of its group for each query, are rows of one product
constexpr std::int64_t row_query(std::int64_t row, std::int64_t group) { return row / group; }
constexpr std::int64_t row_head(std::int64_t row, std::int64_t group) { return row % group; }
// Keys that a query may see: everything cached, and new tokens up to itself.
constexpr std::int64_t visible_keys(std::int64_t query, std::int64_t cached) { return cached + query + 1; }
// q and out: [batch][query][head][dim]
constexpr std::int64_t query_offset(std::int64_t sequence, std::int64_t query, std::int64_t head, std::int64_t queries,
                                    std::int64_t heads, std::int64_t head_dim) {
  return ((sequence * queries + query) * heads + head) * head_dim;
}

inline constexpr std::int64_t key_tile = 64;     // keys per step of the attention kernel
inline constexpr std::int64_t most_splits = 64;  // parts into which the keys of one row tile are cut
// Parts so that about four thread blocks per SM exist, each with at least two tiles of keys.
constexpr std::int64_t splits_for(std::int64_t units, std::int64_t keys, std::int64_t sms) {
  const std::int64_t wanted = ceil_div(4 * sms, units > 0 ? units : 1);
  const std::int64_t tiles = ceil_div(keys, key_tile);
  const std::int64_t room = tiles / 2 > 0 ? tiles / 2 : 1;
  const std::int64_t some = wanted < room ? wanted : room;
  return some < 1 ? 1 : some > most_splits ? most_splits : some;
}
// Tiles [first, last) of a part: sizes differ by at most one, and parts cover all tiles once.
constexpr std::int64_t split_begin(std::int64_t split, std::int64_t splits, std::int64_t tiles) {
  return tiles * split / splits;
}

// ---- registers of mma.m16n8k16 (PTX ISA, "Matrix fragments for mma.m16n8k16"), by lane of the warp
constexpr int accumulator_row(int lane, int element) { return lane / 4 + (element >= 2 ? 8 : 0); }
constexpr int accumulator_column(int lane, int element) { return lane % 4 * 2 + element % 2; }
// a: registers 0..3, each two neighbouring columns
constexpr int a_row(int lane, int reg) { return lane / 4 + (reg % 2 == 1 ? 8 : 0); }
constexpr int a_column(int lane, int reg) { return lane % 4 * 2 + (reg >= 2 ? 8 : 0); }
// b: registers 0..1, each two neighbouring k of one column
constexpr int b_k(int lane, int reg) { return lane % 4 * 2 + (reg == 1 ? 8 : 0); }
constexpr int b_column(int lane) { return lane / 4; }

// ---- block scales of cuBLASLt for 4-bit operands, in bytes: tiles of 128 rows x 4 scales, each 512 bytes, row of
// tiles after row of tiles (cuBLAS documentation, "1D block scaling factors layout")
inline constexpr std::int64_t scale_group = 16;  // elements that share one scale
constexpr std::int64_t scale_columns(std::int64_t k) { return ceil_div(ceil_div(k, scale_group), 4) * 4; }
constexpr std::int64_t scale_bytes(std::int64_t rows, std::int64_t k) {
  return ceil_div(rows, 128) * 128 * scale_columns(k);
}
constexpr std::int64_t scale_offset(std::int64_t row, std::int64_t group, std::int64_t k) {
  const std::int64_t tile = row / 128 * (scale_columns(k) / 4) + group / 4;
  const std::int64_t r = row % 128;
  return tile * 512 + r % 32 * 16 + r / 32 * 4 + group % 4;
}

// ---- grouped product: 64-row tiles, no tile holds rows of two experts
inline constexpr std::int64_t row_tile = 64;
constexpr std::int64_t most_tiles(std::int64_t rows, std::int64_t experts) {
  return rows / row_tile + (rows < experts ? rows : experts);
}
// Expert of a tile, by the tiles before each expert (experts + 1 numbers, ascending). Requires: tile < before[experts].
template <class Count>
constexpr std::int64_t expert_of_tile(const Count* before, std::int64_t experts, std::int64_t tile) {
  std::int64_t low = 0, high = experts;
  while (high - low > 1) {
    const std::int64_t middle = (low + high) / 2;
    (before[middle] <= tile ? low : high) = middle;
  }
  return low;
}

}  // namespace servecast::microbench::layout
