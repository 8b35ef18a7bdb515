// Concrete settings of one replica, every default resolved. Names are the serving engines' own flags.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace servecast::engine {

// How requests end: at their output limit, which an asynchronous scheduler foresees, or at an end-of-sequence token,
// which it sees one step late at the price of one wasted decode slot.
enum class Stop : std::uint8_t { Length, Eos };
inline constexpr std::string_view stop_names[] = {"length", "eos"};
constexpr std::span<const std::string_view> names_of(Stop) { return stop_names; }

// automatic: the constant-time engine where the configuration allows it, else the plain loop. Both give the same bits.
enum class Loop : std::uint8_t { Automatic, Plain };
inline constexpr std::string_view loop_names[] = {"automatic", "plain"};
constexpr std::span<const std::string_view> names_of(Loop) { return loop_names; }

struct Config {
  std::int32_t block_size = 16;                // tokens
  std::int64_t blocks = 0;                     // usable blocks of the pool, the null block excluded
  std::int32_t max_num_seqs = 256;
  std::int32_t max_num_batched_tokens = 8192;
  std::int32_t max_model_len = 16384;
  bool enable_prefix_caching = true;
  bool enable_chunked_prefill = true;
  bool reserve_full_isl = true;                // admission needs room for the whole current sequence
  bool async_scheduling = true;
  std::int32_t long_prefill_token_threshold = 0;  // 0: off
  double watermark = 0.0;                      // share of blocks kept free at admission while something runs
  Stop stop = Stop::Length;
  Loop loop = Loop::Automatic;
};

}  // namespace servecast::engine
