// The facts of one request. The true output length is an oracle's knowledge: it sits in `hidden`, which only engine/
// may read (a test greps for it); routers and admission see the rest.
#pragma once

#include "core/id.hpp"
#include "core/time.hpp"

#include <cstdint>
#include <vector>

namespace servecast::workload {

using RequestId = core::Id<struct RequestTag>;

// Identity of the prompt's content, for prefix caching. Tokens [previous end, end) belong to the chain `chain`; a chain
// id determines everything before it in the prompt (trace prefix ids are chained; a session's chain starts at its first
// token), so equal (chain, block index) means equal block content and equal prefix. Tokens after the last piece,
// outputs included, belong to `tail`.
struct ContentPiece {
  std::uint64_t chain = 0;
  std::int32_t end = 0;  // token index, exclusive
};

struct Content {
  std::vector<ContentPiece> pieces;  // ascending ends; empty when nothing is shared
  std::uint64_t tail = 0;            // 0: private to this request
  bool shared() const { return !pieces.empty() || tail != 0; }
};

struct Hidden {
  std::int32_t output_tokens = 1;
};

struct Request {
  RequestId id;                         // dense, in order of arrival in the source
  core::Time arrival;                   // instant the client sends it
  std::int32_t prompt_tokens = 1;       // >= 1
  Hidden hidden;                        // >= 1 output token
  std::int32_t max_tokens = 0;          // the client's output limit, 0 when not stated (visible to the engine)
  std::uint32_t session = 0xffffffffu;  // index of the session it belongs to, or none
  Content content;
};

}  // namespace servecast::workload
