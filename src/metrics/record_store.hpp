// Per-request records, 32 bytes each, dense by request id. Storage grows in fixed chunks, so that a million requests
// never cost a copy of what is already there. Times are simulated; a client's own overhead is added by the readers.
#pragma once

#include "core/time.hpp"
#include "metrics/huge_pages.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

namespace servecast::metrics {

// output_tokens is 0 until the request finishes (its true length is the engine's secret) and rejected_mark when it was
// refused; finish is then the instant of the refusal.
struct Record {
  static constexpr std::int32_t rejected_mark = -1;

  core::Time arrival;
  std::int32_t prompt_tokens = 0;
  std::int32_t output_tokens = 0;
  core::Time first_token = core::Time::never();
  core::Time finish = core::Time::never();

  bool rejected() const { return output_tokens == rejected_mark; }
  bool completed() const { return output_tokens > 0; }
  bool unfinished() const { return output_tokens == 0; }
};
static_assert(sizeof(Record) == 32);

// What only rows of requests.csv need; kept on demand.
struct RecordDetail {
  std::uint16_t replica = 0;  // 65535 stands for all beyond
  std::uint16_t preemptions = 0;
  std::int32_t cached_prompt_tokens = -1;  // of the first lookup; -1: none yet
};
static_assert(sizeof(RecordDetail) == 8);

// Grow-only array in chunks of 64 Ki elements; references stay valid.
template <typename T>
class ChunkedArray {
 public:
  std::size_t size() const { return size_; }
  T& operator[](std::size_t i) { return chunks_[i >> chunk_bits].get()[i & chunk_mask]; }
  const T& operator[](std::size_t i) const { return chunks_[i >> chunk_bits].get()[i & chunk_mask]; }
  void push_back(const T& value) {
    if ((size_ & chunk_mask) == 0) {
      chunks_.emplace_back(static_cast<T*>(allocate_pages(chunk_bytes)));
    }
    std::construct_at(chunks_.back().get() + (size_ & chunk_mask), value);
    ++size_;
  }
  std::size_t bytes() const { return chunks_.size() * chunk_bytes; }

 private:
  static constexpr std::size_t chunk_bits = 16;
  static constexpr std::size_t chunk_mask = (std::size_t{1} << chunk_bits) - 1;
  static constexpr std::size_t chunk_bytes = sizeof(T) << chunk_bits;
  static_assert(std::is_trivially_destructible_v<T>);

  struct Free {
    void operator()(T* chunk) const { free_pages(chunk, chunk_bytes); }
  };

  std::vector<std::unique_ptr<T, Free>> chunks_;
  std::size_t size_ = 0;
};

using Records = ChunkedArray<Record>;

}  // namespace servecast::metrics
