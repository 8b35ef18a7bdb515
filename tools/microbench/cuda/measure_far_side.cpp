// Near and far part of the L2 cache: latencies of atomics from every SM to many lines tell which SMs and lines belong
// together (sm_groups.hpp); then each group streams over lines that are near, or far.
#include "microbench/cuda/kernels.hpp"
#include "microbench/cuda/measures.hpp"
#include "microbench/host/statistics.hpp"
#include "microbench/host/values.hpp"

#include <algorithm>
#include <numeric>

namespace servecast::microbench::cuda {

namespace {

constexpr int probed_lines = 96;
constexpr std::int64_t probed_bytes = std::int64_t{64} << 20;  // lines are drawn from it, so that both homes occur
constexpr int streamed_lines = 16384;                          // 2 MiB: well inside either part
constexpr int passes = 64;
constexpr std::size_t sm_numbers = 4096;  // hardware numbers of SMs stay far below

// Latencies in ns, [row][line], and the SM of each row. words and the turn are zero.
struct Probed {
  std::vector<std::vector<double>> ns;
  std::vector<std::uint32_t> sm;
};

Probed probe(Context& c, const Buffer<std::uint32_t>& words, const std::vector<std::uint32_t>& lines) {
  const auto count = static_cast<int>(lines.size());
  const Buffer<std::uint32_t> line_of(count), turn(1);
  const Buffer<SmProbe> probes(c.sms());
  const Buffer<float> cycles(std::int64_t{c.sms()} * count);
  line_of.put(lines);
  turn.zero();
  check(probe_lines(words.data(), line_of.data(), count, c.sms(), turn.data(), probes.data(), cycles.data(), c.stream),
        "cooperative launch");
  const std::vector<float> all = cycles.get(0, cycles.count());
  Probed out;
  for (const SmProbe& p : probes.get(0, c.sms())) {
    const double ns_per_cycle =
        static_cast<double>(p.nanoseconds) / static_cast<double>(std::max<std::uint64_t>(p.cycles, 1));
    const auto row = all.begin() + static_cast<std::ptrdiff_t>(out.sm.size() * lines.size());
    std::vector<double> ns;
    for (std::size_t i = 0; i < lines.size(); ++i) ns.push_back(row[static_cast<std::ptrdiff_t>(i)] * ns_per_cycle);
    out.sm.push_back(p.sm);
    out.ns.push_back(std::move(ns));
  }
  return out;
}

}  // namespace

void FarSide::discover(Context& c) {
  const Buffer<std::uint32_t> words(probed_bytes / 4);
  words.zero();
  std::vector<std::uint32_t> lines;
  for (std::uint64_t i = 0; i < probed_lines; ++i)
    lines.push_back(
        static_cast<std::uint32_t>(values::mixed(23, i) % static_cast<std::uint64_t>(probed_bytes / line_bytes)));
  probe(c, words, lines);  // clocks rise
  Probed p = probe(c, words, lines);
  found_ = find_groups(p.ns);
  ns_ = std::move(p.ns);
  sm_of_row_ = std::move(p.sm);
  known_ = true;
}

void FarSide::classify(Context& c) {
  if (!near_lines_[0].empty() || !found_.split) return;
  const Buffer<std::uint32_t> words(std::int64_t{streamed_lines} * line_bytes / 4);
  words.zero();
  std::vector<std::uint32_t> lines(streamed_lines);
  std::iota(lines.begin(), lines.end(), 0U);
  // In batches, because one probe goes through all SMs.
  constexpr std::size_t batch = 512;
  std::vector<double> difference;
  for (std::size_t first = 0; first < lines.size(); first += batch) {
    const std::vector<std::uint32_t> some(lines.begin() + static_cast<std::ptrdiff_t>(first),
                                          lines.begin() + static_cast<std::ptrdiff_t>(first + batch));
    const Probed p = probe(c, words, some);
    for (std::size_t i = 0; i < batch; ++i) {
      double sum[2] = {0, 0}, count[2] = {0, 0};
      for (std::size_t row = 0; row < p.sm.size(); ++row) {
        const auto at = std::find(sm_of_row_.begin(), sm_of_row_.end(), p.sm[row]);
        if (at == sm_of_row_.end()) continue;
        const auto g = static_cast<std::size_t>(found_.sm[static_cast<std::size_t>(at - sm_of_row_.begin())]);
        sum[g] += p.ns[row][i], count[g] += 1;
      }
      difference.push_back(sum[0] / std::max(count[0], 1.0) - sum[1] / std::max(count[1], 1.0));
    }
  }
  // Two heaps: halfway between their middles.
  std::vector<double> sorted = difference;
  std::sort(sorted.begin(), sorted.end());
  const double halfway = (sorted[sorted.size() / 10] + sorted[sorted.size() * 9 / 10]) / 2;
  for (std::size_t i = 0; i < difference.size(); ++i) near_lines_[difference[i] < halfway ? 0 : 1].push_back(lines[i]);
}

Outcome FarSide::groups(const Machine& m, const Timing&) const {
  Outcome out;
  out.samples = {static_cast<double>(std::count(found_.sm.begin(), found_.sm.end(), m.detail))};
  if (out.samples[0] == 0) out.refused = "no second group of SMs was found: all lines are equally far";
  return out;
}

// Each sample is one SM's mean over its near, or far, lines.
Outcome FarSide::latency(const Machine& m, const Timing&) const {
  const bool near = m.quantity == Quantity::L2NearLatency;
  Outcome out;
  for (std::size_t row = 0; row < ns_.size(); ++row) {
    if (found_.sm[row] != m.detail) continue;
    double sum = 0, count = 0;
    for (std::size_t i = 0; i < ns_[row].size(); ++i)
      if ((found_.line[i] == found_.sm[row]) == near) sum += ns_[row][i], count += 1;
    if (count > 0) out.samples.push_back(sum / count);
  }
  if (out.samples.empty()) out.refused = "no far part of the L2 cache was found";
  return out;
}

Outcome FarSide::bandwidth(Context& c, const Machine& m, const Timing& t) {
  classify(c);
  if (!found_.split) return refused("no far part of the L2 cache was found");
  const bool near = m.quantity == Quantity::L2NearRead;
  const std::vector<std::uint32_t>& lines = near_lines_[near ? m.detail : 1 - m.detail];
  if (lines.empty()) return refused("no lines of that part were found");
  const Buffer<std::uint32_t> words(std::int64_t{streamed_lines} * line_bytes / 4),
      line_of(static_cast<std::int64_t>(lines.size())), sum(1);
  const Buffer<std::uint8_t> group(sm_numbers);
  const Buffer<unsigned long long> bytes(1);
  std::vector<std::uint8_t> groups(sm_numbers, 255);
  for (std::size_t row = 0; row < sm_of_row_.size(); ++row)
    groups[sm_of_row_[row]] = static_cast<std::uint8_t>(found_.sm[row]);
  words.zero(), sum.zero(), bytes.zero(), line_of.put(lines), group.put(groups);
  const auto launch = [&](cudaStream_t s) {
    read_lines(words.data(), line_of.data(), static_cast<int>(lines.size()), group.data(), static_cast<int>(m.detail),
               passes, sum.data(), bytes.data(), c.sms() * 4, s);
  };
  launch(c.stream);
  check_launch("line reading kernel");
  Outcome out;
  const double moved = static_cast<double>(bytes.get(0));  // blocks of the other group read nothing
  if (moved == 0) return refused("no block ran on an SM of the group");
  if (sum.get(0) != 0) out.wrong = "zeros do not add up to zero";
  if (!out.wrong.empty()) return out;
  time_launch(c, launch, Timing{t.repeats, false}, out);
  to_gb_per_s(moved, out);
  return out;
}

Outcome FarSide::measure(Context& c, const Machine& m, const Timing& t) {
  if (!known_) discover(c);
  Outcome out = m.quantity == Quantity::SmGroups                                                ? groups(m, t)
                : m.quantity == Quantity::L2NearLatency || m.quantity == Quantity::L2FarLatency ? latency(m, t)
                                                                                                : bandwidth(c, m, t);
  out.kernel_source = m.quantity == Quantity::L2NearRead || m.quantity == Quantity::L2FarRead
                          ? "servecast_line_read"
                          : "servecast_atomic_probe";
  if (out.clocks.sm_mhz == 0) out.clocks = c.nvml.read();
  return out;
}

}  // namespace servecast::microbench::cuda
