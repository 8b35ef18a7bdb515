#include "microbench/host/fake_device.hpp"

#include "core/random.hpp"
#include "microbench/host/routing.hpp"
#include "microbench/host/tables.hpp"

#include <algorithm>
#include <set>

namespace servecast::microbench {

namespace {

double wide(std::int64_t x) { return static_cast<double>(x); }
double width(Format f) { return f == Format::Bf16 ? 2 : f == Format::Fp8 ? 1 : 0.5625; }
double speed(Format f) { return f == Format::Bf16 ? 1 : f == Format::Fp8 ? 2 : 4; }

double roof(const FakeRates& r, double flops, double bytes, double times = 1) {
  return r.launch_us + std::max(flops / (r.bf16_per_us * times), bytes / r.bytes_per_us);
}

double value(const FakeRates& r, const Gemm& g) {
  const double m = wide(g.m), n = wide(g.n), k = wide(g.k);
  return roof(r, 2 * m * n * k, (m + n) * k * width(g.format) + 2 * m * n, speed(g.format));
}

double value(const FakeRates& r, const Attention& a) {
  const double length = wide(a.cached + a.queries), queries = wide(a.queries);
  const double pairs = wide(a.batch) * (queries * wide(a.cached) + queries * (queries + 1) / 2);
  const double cache = 2 * wide(a.batch) * length * wide(a.kv_heads * a.head_dim) * width(a.kv);
  return roof(r, 4 * pairs * wide(a.heads * a.head_dim), cache, 0.6);
}

double value(const FakeRates& r, const Quantise& q) {
  return roof(r, 0, wide(q.rows) * wide(q.width) * (q.scale_search ? 2 : 2 + width(q.to)));
}

double value(const FakeRates& r, const Experts& e) {
  const Routing routing = route(e);
  const std::set<std::int32_t> all(routing.expert.begin(), routing.expert.end());
  const double active = wide(static_cast<std::int64_t>(all.size())) - (all.contains(-1) ? 1 : 0);
  const double matrix = 3 * wide(e.hidden) * wide(e.inter);
  return 3 * r.launch_us + roof(r, 2 * wide(routing.rows) * matrix, 2 * active * matrix, 0.7);
}

double value(const FakeRates& r, const Collective& c) {
  return (c.graph ? 1 : 3) * r.launch_us + 2 * wide(c.elements) / (r.bytes_per_us / 12);
}

double value(const FakeRates& r, const Machine& m) {
  switch (m.quantity) {
    case Quantity::HbmRead:
    case Quantity::HbmWrite:
    case Quantity::HbmCopy:
    case Quantity::Nvfp4Dequantise: return wide(m.bytes) / (r.launch_us + wide(m.bytes) / r.bytes_per_us) / 1e3;
    case Quantity::L2Read: return r.l2_bytes_per_us / 1e3;
    case Quantity::ChaseLatency: return m.bytes < (std::int64_t{64} << 20) ? 200 : 600;
    case Quantity::SmGroups: return 74;
    case Quantity::L2NearLatency: return 150;
    case Quantity::L2FarLatency: return 210;
    case Quantity::L2NearRead: return r.l2_bytes_per_us / 2e3;
    case Quantity::L2FarRead: return r.l2_bytes_per_us / 3e3;
    case Quantity::LaunchInterval: return r.launch_us;
    case Quantity::LaunchRoundTrip: return 3 * r.launch_us;
    case Quantity::GraphLaunch: return r.launch_us + wide(m.detail) * r.launch_us / 2;
    case Quantity::GraphKernel: return r.launch_us / 2;
    case Quantity::HostToDevice:
    case Quantity::DeviceToHost: return wide(m.bytes) / (10 + wide(m.bytes) / 5e4) / 1e3;
    case Quantity::PeerCopy: return wide(m.bytes) / (10 + wide(m.bytes) / 8e5) / 1e3;
    case Quantity::IdlePower: return 140;
    case Quantity::HbmPower: return 600;
    case Quantity::GemmPower: return 980;
  }
  return 0;
}

}  // namespace

DeviceInfo FakeDevice::fake_info() {
  DeviceInfo d;
  d.name = "made-up B200";
  d.driver = "none";
  d.nccl = "0.0";
  d.major = 10;
  d.sms = 148;
  d.l2_bytes = 126'500'000;
  d.memory_bytes = std::int64_t{170} << 30;
  d.gpus = 8;
  d.tensor_fp8 = d.tensor_fp4 = d.nvml = true;
  return d;
}

FakeDevice::FakeDevice(std::uint64_t seed, FakeRates rates, DeviceInfo device)
    : seed_(seed), rates_(rates), info_(std::move(device)) {}

Outcome FakeDevice::measure(const Point& point, const Timing& timing) {
  core::Random random(seed_, "microbench/" + key(point));
  const double exact = std::visit([this](const auto& p) { return value(rates_, p); }, point);
  Outcome o;
  o.kernel_source = table_of(point) == TableId::AllReduce ? "made_up_graph" : "made_up";
  for (std::int64_t i = 0; i < timing.repeats; ++i)
    o.samples.push_back(exact * (1 + rates_.noise * (2 * random.uniform() - 1)));
  o.clocks = {1965, 3996, 700};
  return o;
}

}  // namespace servecast::microbench
