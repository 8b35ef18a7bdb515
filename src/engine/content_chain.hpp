// Which content a page of a request stands for: the chain of its last token, and its place in it.
#pragma once

#include "engine/sequence.hpp"
#include "memory/block_pool.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace servecast::engine {

// Chain of what the request says behind its stated pieces.
inline std::uint64_t tail_chain(const workload::Request& request) {
  return request.content.tail != 0 ? request.content.tail : private_chain(request.id);
}

// Key of page `index` of `size` tokens, given the content piece to start looking from; pages are asked for in order.
inline memory::ContentKey key_in_order(const workload::Request& request, std::int64_t index, std::int64_t size,
                                       std::size_t& piece) {
  const auto last = static_cast<std::int32_t>((index + 1) * size - 1);
  const auto& pieces = request.content.pieces;
  while (piece < pieces.size() && pieces[piece].end <= last) ++piece;
  return memory::content_key(piece < pieces.size() ? pieces[piece].chain : tail_chain(request), index);
}

// The same for any page of one of several groups, which share no content.
inline memory::ContentKey key_in_group(const workload::Request& request, std::int64_t index, std::int64_t size,
                                       std::int32_t group) {
  constexpr std::uint64_t odd = 0x9e3779b97f4a7c15ull;  // groups' chains land far apart
  const auto last = static_cast<std::int32_t>((index + 1) * size - 1);
  const auto& pieces = request.content.pieces;
  const auto after = [](std::int32_t token, const workload::ContentPiece& piece) { return token < piece.end; };
  const auto piece = std::upper_bound(pieces.begin(), pieces.end(), last, after);
  const std::uint64_t chain = piece != pieces.end() ? piece->chain : tail_chain(request);
  return memory::content_key(chain + static_cast<std::uint64_t>(group) * odd, index);
}

}  // namespace servecast::engine
