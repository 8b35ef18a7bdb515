// Power and clocks while the device does nothing, copies memory, or multiplies without a break: long enough for the
// power limit to act.
#include "microbench/cuda/kernels.hpp"
#include "microbench/cuda/products_state.hpp"

#include <chrono>
#include <cmath>
#include <thread>

namespace servecast::microbench::cuda {

namespace {

using Seconds = std::chrono::duration<double>;

constexpr Seconds settling{2};   // clocks and the limiter reach their steady state
constexpr Seconds between{0.1};  // readings; the library averages over about as long (assumed)

// Keeps a few units of work queued, so that the device never waits.
void keep_busy(Context& c, const Launch& work, Seconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) {
    for (int i = 0; i < 4; ++i) work(c.stream);
    check_launch("power load");
    check(cudaStreamSynchronize(c.stream), "power load");
  }
}

void read_power(Context& c, const Launch& work, const Timing& t, Outcome& out) {
  keep_busy(c, work, settling);
  double sm = 0, memory = 0;
  for (std::int64_t i = 0; i < t.repeats; ++i) {
    keep_busy(c, work, between);
    for (int queued = 0; queued < 4; ++queued) work(c.stream);
    const Clocks now = c.nvml.read();  // while the queued work runs
    check(cudaStreamSynchronize(c.stream), "power load");
    if (std::isfinite(now.power_w)) out.samples.push_back(now.power_w);
    sm += now.sm_mhz / static_cast<double>(t.repeats), memory += now.memory_mhz / static_cast<double>(t.repeats);
  }
  out.clocks = {sm, memory, std::nan("")};
  if (out.samples.empty()) out.refused = "the management library reads no power on this device";
}

}  // namespace

Outcome Products::measure_power(const Machine& m, const Timing& t) {
  State& s = *state_;
  Context& c = s.context;
  if (!c.nvml.there()) return refused("power needs the management library (libnvidia-ml.so.1), which is not there");
  Outcome out;
  if (m.quantity == Quantity::IdlePower) {
    out.kernel_source = "none";
    read_power(
        c, [](cudaStream_t) { std::this_thread::sleep_for(between); }, t, out);
  } else if (m.quantity == Quantity::HbmPower) {
    out.kernel_source = "servecast_stream";
    const Buffer<std::uint32_t> from(m.bytes / 4), to(m.bytes / 4);
    fill_words(from.data(), from.count(), c.stream);
    read_power(
        c, [&](cudaStream_t stream) { copy_words(to.data(), from.data(), m.bytes, c.blocks(), stream); }, t, out);
  } else {
    out.kernel_source = "cublaslt";
    const Gemm g{Format::Bf16, m.detail, m.detail, m.detail};
    Operands in(g, c);
    const Buffer<std::uint16_t> to(g.m * g.n);
    const std::optional<Product> product = Product::find(s, g, in);
    if (!product) return refused("cuBLASLt has no algorithm for the load");
    read_power(
        c, [&](cudaStream_t stream) { product->run(s, in, to.data(), stream); }, t, out);
  }
  return out;
}

}  // namespace servecast::microbench::cuda
