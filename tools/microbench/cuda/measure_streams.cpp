// Bandwidth of device memory and of the L2 cache, by streaming.
#include "microbench/cuda/kernels.hpp"
#include "microbench/cuda/measures.hpp"

#include <algorithm>

namespace servecast::microbench::cuda {

namespace {

// Sum of the words 0 .. count - 1 modulo 2^32, `passes` times.
std::uint32_t expected_sum(std::uint64_t count, std::uint32_t passes) {
  const std::uint64_t half = count % 2 == 0 ? count / 2 * (count - 1) : (count - 1) / 2 * count;
  return static_cast<std::uint32_t>(half) * passes;
}

Outcome read(Context& c, std::int64_t bytes, int passes, const Timing& t) {
  const Buffer<std::uint32_t> in(bytes / 4), sum(1);
  fill_words(in.data(), in.count(), c.stream);
  sum.zero();
  read_words(in.data(), bytes, passes, sum.data(), c.blocks(), c.stream);
  check_launch("read kernel");
  Outcome out;
  const std::uint32_t expected =
      expected_sum(static_cast<std::uint64_t>(in.count()), static_cast<std::uint32_t>(passes));
  if (const std::uint32_t got = sum.get(0); got != expected)
    out.wrong = fmt::format("sum {} instead of {}", got, expected);
  if (!out.wrong.empty()) return out;
  time_launch(
      c, [&](cudaStream_t s) { read_words(in.data(), bytes, passes, sum.data(), c.blocks(), s); }, t, out);
  to_gb_per_s(static_cast<double>(bytes) * passes, out);
  return out;
}

Outcome write(Context& c, std::int64_t bytes, const Timing& t) {
  const Buffer<std::uint32_t> to(bytes / 4);
  write_words(to.data(), bytes, 7, c.blocks(), c.stream);
  check_launch("write kernel");
  Outcome out;
  for (const std::int64_t at : {std::int64_t{0}, to.count() / 3, to.count() - 1})
    if (const std::uint32_t got = to.get(at); got != static_cast<std::uint32_t>(7 + at / 4))
      out.wrong = fmt::format("word {} is {}", at, got);
  if (!out.wrong.empty()) return out;
  time_launch(
      c, [&](cudaStream_t s) { write_words(to.data(), bytes, 7, c.blocks(), s); }, t, out);
  to_gb_per_s(static_cast<double>(bytes), out);
  return out;
}

// Both directions count, as they do for the memory.
Outcome copy(Context& c, std::int64_t bytes, const Timing& t) {
  const Buffer<std::uint32_t> from(bytes / 4), to(bytes / 4);
  fill_words(from.data(), from.count(), c.stream);
  copy_words(to.data(), from.data(), bytes, c.blocks(), c.stream);
  check_launch("copy kernel");
  Outcome out;
  for (const std::int64_t at : {std::int64_t{0}, to.count() / 3, to.count() - 1})
    if (const std::uint32_t got = to.get(at); got != static_cast<std::uint32_t>(at))
      out.wrong = fmt::format("word {} is {}", at, got);
  if (!out.wrong.empty()) return out;
  time_launch(
      c, [&](cudaStream_t s) { copy_words(to.data(), from.data(), bytes, c.blocks(), s); }, t, out);
  to_gb_per_s(2.0 * static_cast<double>(bytes), out);
  return out;
}

}  // namespace

Outcome measure_streams(Context& c, const Machine& m, const Timing& t) {
  // Of the memory only a cold cache tells; of the cache only a warm one, read often enough to outweigh the launch.
  const Timing cold{t.repeats, true}, warm{t.repeats, false};
  const std::int64_t bytes = m.bytes / 16 * 16;
  Outcome out;
  if (m.quantity == Quantity::HbmRead) out = read(c, bytes, 1, cold);
  if (m.quantity == Quantity::HbmWrite) out = write(c, bytes, cold);
  if (m.quantity == Quantity::HbmCopy) out = copy(c, bytes, cold);
  if (m.quantity == Quantity::L2Read)
    out = read(c, bytes, static_cast<int>(std::max<std::int64_t>(1, (std::int64_t{1} << 32) / bytes)), warm);
  out.kernel_source = "servecast_stream";
  return out;
}

}  // namespace servecast::microbench::cuda
