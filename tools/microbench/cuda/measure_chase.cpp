// Latency of dependent loads by footprint: a random cycle through all lines.
#include "microbench/cuda/kernels.hpp"
#include "microbench/cuda/measures.hpp"
#include "microbench/host/values.hpp"

#include <numeric>

namespace servecast::microbench::cuda {

namespace {

constexpr std::int64_t steps = 16384;  // several ms: the launch weighs a thousandth

// One cycle through all lines (Sattolo's shuffle).
std::vector<std::uint32_t> random_cycle(std::int64_t lines) {
  std::vector<std::uint32_t> next(static_cast<std::size_t>(lines));
  std::iota(next.begin(), next.end(), 0U);
  for (std::size_t i = next.size() - 1; i > 0; --i) std::swap(next[i], next[values::mixed(17, i) % i]);
  return next;
}

}  // namespace

Outcome measure_chase(Context& c, const Machine& m, const Timing& t) {
  const std::int64_t lines = m.bytes / line_bytes;
  const std::vector<std::uint32_t> next = random_cycle(lines);
  const Buffer<std::uint32_t> chain(lines * line_bytes / 4), order(lines), at(1), sum(1);
  chain.zero(), at.zero();
  order.put(next);
  spread_chain(chain.data(), order.data(), lines, c.stream);
  // Brings what fits into the cache.
  read_words(chain.data(), lines * line_bytes, 2, sum.data(), c.blocks(), c.stream);
  chase(chain.data(), steps, at.data(), c.stream);
  check_launch("chase kernel");
  std::uint32_t expected = 0;
  for (std::int64_t i = 0; i < steps; ++i) expected = next[expected];
  Outcome out;
  out.kernel_source = "servecast_chase";
  if (const std::uint32_t got = at.get(0); got != expected) {
    out.wrong = fmt::format("ended at line {} instead of {}", got, expected);
    return out;
  }
  time_launch(
      c, [&](cudaStream_t s) { chase(chain.data(), steps, at.data(), s); }, Timing{t.repeats, false}, out);
  for (double& sample : out.samples) sample *= 1e3 / static_cast<double>(steps);
  return out;
}

}  // namespace servecast::microbench::cuda
