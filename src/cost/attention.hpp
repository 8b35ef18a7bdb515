// The attention cores of a step on one rank (SPEC 3.1, 3.2). Layers fall into two classes: those that see the whole
// context and those that see at most a window of it (sliding or chunked windows, the top-k selection of sparse MLA;
// there the whole-context class is the indexer). What costs the same at every context, recurrent states and attention
// over an encoder, stands beside them. Decode: rooflines affine in the number of decoders D and in their
// summed context S. Prefill: rooflines affine in the (query, key) pairs, the queries and the visible keys of one chunk;
// MLA takes the faster of its two forms, keys and values expanded or weights absorbed into the query. Launch floors are
// not in here.
#pragma once

#include "cost/operators.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace servecast::cost {

struct Rooflines {
  double compute_s = 0;
  double memory_s = 0;
  double flops = 0;
  double bytes = 0;
  bool die_link = false;  // memory_s is the crossing between dies

  double seconds() const { return compute_s > memory_s ? compute_s : memory_s; }
};

// One class of layers, all its layers together.
struct DecodeClass {
  double flops_per_context = 0;
  double bytes_per_context = 0;
  double flops_per_decoder = 0;
  double bytes_per_decoder = 0;
  double flops_per_s = 0;
  double bytes_per_s = 0;

  bool empty() const { return bytes_per_context == 0 && bytes_per_decoder == 0; }
  Rooflines at(double decoders, double context) const;
};

// What one chunk asks of a class of layers.
struct ChunkWork {
  std::int64_t pairs = 0;
  std::int64_t queries = 0;
  std::int64_t keys = 0;
};

enum class Window : std::uint8_t { None, Sliding, Chunked };
// Pairs of the queries [0, n).
inline std::int64_t pairs_before(std::int64_t n, Window window, std::int64_t size) {
  if (window == Window::Sliding && n > size) return size * (size + 1) / 2 + (n - size) * size;
  if (window == Window::Chunked && n > size) {
    const std::int64_t rest = n % size;
    return n / size * (size * (size + 1) / 2) + rest * (rest + 1) / 2;
  }
  return n * (n + 1) / 2;
}

// Queries [from, to), each seeing itself and what its window leaves of the tokens before it.
inline ChunkWork chunk_work(std::int32_t from, std::int32_t to, Window window, std::int32_t size) {
  ChunkWork w;
  w.pairs = pairs_before(to, window, size) - pairs_before(from, window, size);
  w.queries = to - from;
  w.keys = window == Window::None ? to : std::min<std::int64_t>(to, w.queries + size - 1);
  return w;
}

// Seconds per unit of ChunkWork, all layers of the class together.
struct ChunkLine {
  double per_pair = 0;
  double per_query = 0;
  double per_key = 0;
  double per_chunk = 0;
  double at(const ChunkWork& w) const {
    return per_pair * static_cast<double>(w.pairs) + per_query * static_cast<double>(w.queries) +
           per_key * static_cast<double>(w.keys) + per_chunk;
  }
};

// One way to compute a class: bound by the larger line. flops: per unit, for reports.
struct ChunkForm {
  ChunkLine compute;
  ChunkLine memory;
  ChunkLine flops;
  ChunkLine bytes;
};

struct ChunkClass {
  Window window = Window::None;
  std::int32_t size = 0;
  std::vector<ChunkForm> forms;  // the fastest is used; empty: no such layers
};

struct AttentionModel {
  std::array<DecodeClass, 2> decode;  // whole context, windowed
  DecodeClass fixed;                  // states and cross attention, which no context lengthens; 0 per context
  std::array<ChunkClass, 3> prefill;  // whole context, windowed, fixed
  Operator absorb;                    // MLA: query and output through the latent space, per decoder; count 0 otherwise
  double kernels = 0;                 // attention launches per step
  std::int32_t window = 0;            // to cut contexts to, 0: no windowed class
};

AttentionModel attention_model(const OperatorInput& in);

}  // namespace servecast::cost
