// Identities of prompt content. A chain id names a sequence of tokens from the start of the prompt on; ids of different
// origin (traces, applications, sessions, prefix families) never meet by construction of the hash (64 bits).
#pragma once

#include "core/random.hpp"
#include "workload/config.hpp"
#include "workload/lengths.hpp"
#include "workload/request.hpp"

#include <cstdint>
#include <span>

namespace servecast::workload {

enum class ChainKind : std::uint64_t { Trace = 1, Application = 2, Session = 3, Family = 4, Prompt = 5 };

// Never 0.
std::uint64_t chain_id(ChainKind kind, std::uint64_t index);

// Content of a prompt whose block i of block_tokens tokens has the chained trace id ids[i]; ids past the prompt's end
// are left out, tokens past the last id are private.
Content trace_content(std::span<const std::uint64_t> ids, std::int32_t block_tokens, std::int32_t prompt_tokens);

// Draws which family, if any, each request's prefix comes from: two numbers per request, always.
class SharedPrefix {
 public:
  SharedPrefix(const SharedPrefixConfig& c, std::uint64_t seed);
  // The prefix lies inside the prompt; a shorter prompt lies inside the prefix.
  Content draw(std::int32_t prompt_tokens);

 private:
  double share_;
  std::int32_t tokens_;
  WeightedChoice family_;
  core::Random random_;
};

}  // namespace servecast::workload
