#include "model/hf_block_writer.hpp"

#include "config/json_writer.hpp"

#include <algorithm>

namespace servecast::model {
namespace {

constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

// As model files write it, its letter apart.
std::string content(BlockKind k) {
  k.letter = "-";
  return config::write(k);
}

}  // namespace

void BlockWriter::add(BlockKind kind) {
  const std::string wanted = content(kind);
  const auto known =
      std::find_if(order_.kinds.begin(), order_.kinds.end(), [&](const BlockKind& k) { return content(k) == wanted; });
  if (known != order_.kinds.end()) {
    order_.order += known->letter;
    return;
  }
  const std::size_t next = std::min(order_.kinds.size(), letters.size() - 1);
  if (kind.letter.empty()) kind.letter = letters.substr(next, 1);
  order_.order += kind.letter;
  order_.kinds.push_back(std::move(kind));
}

std::int32_t BlockWriter::count(FeedForward f) const {
  std::int32_t n = 0;
  for (const BlockKind& k : order_.kinds)
    if (k.feed_forward == f)
      n += static_cast<std::int32_t>(std::count(order_.order.begin(), order_.order.end(), k.letter[0]));
  return n;
}

std::int32_t BlockWriter::count(Mixer m) const {
  std::int32_t n = 0;
  for (const BlockKind& k : order_.kinds)
    if (k.mixer == m) n += static_cast<std::int32_t>(std::count(order_.order.begin(), order_.order.end(), k.letter[0]));
  return n;
}

}  // namespace servecast::model
