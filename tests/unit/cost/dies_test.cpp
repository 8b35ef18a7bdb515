#include "cost/dies.hpp"

#include "catch.hpp"
#include "cost/explain_dies.hpp"
#include "hardware/dies.hpp"
#include "samples.hpp"

using namespace servecast;
using namespace servecast::cost;

namespace {

hardware::Gpu two_dies() {
  hardware::Gpu g = samples::b200();
  g.dies = 2;
  g.die_link_tb_s = 10;
  g.far_l2_ns = 60;
  g.l2_mb = 126.5;
  g.peak_mhz = 1855;
  return g;
}

DeviceSettings linked(double tb_s) {
  DeviceSettings d;
  d.die_link_tb_s = tb_s;
  return d;
}

StepTime step_of(const hardware::Gpu& gpu, const DeviceSettings& device, StepShape shape) {
  const model::Architecture a = samples::llama_70b();
  StepModelInput in = samples::input(a, gpu);
  in.device = device;
  return StepModel(in).step(shape);
}

StepShape decoding(std::int32_t requests, std::int64_t context) {
  StepShape s;
  s.decode_requests = s.sampled_rows = requests;
  s.decode_context = requests * context;
  return s;
}

}  // namespace

TEST_CASE("an interleaved stream of 8 TB/s needs 2 of the 5 TB/s that the link has each way") {
  const Dies dies(two_dies(), {});
  REQUIRE(dies.present());
  CHECK(dies.crossing_bytes(streamed_traffic(8e12, 0)) == 2e12);
  CHECK(dies.crossing_bytes(streamed_traffic(0, 8e12)) == 2e12);
  CHECK(dies.crossing_s(streamed_traffic(8e12, 0)) == Approx(2.0 / (5 * 0.9)));
}

TEST_CASE("what both dies read crosses half in each direction, once") {
  const Dies dies(two_dies(), {});
  CHECK(dies.crossing_bytes(shared_traffic(1e9, 0, 2)) == Approx(0.5e9));
  CHECK(dies.crossing_bytes(shared_traffic(1e9, 0, 50)) == Approx(0.5e9));
  CHECK(shared_traffic(1e9, 0, 50).l2_bytes == Approx(50e9));
}

TEST_CASE("the knee of a stream lies at a link of half the memory rate") {
  // A quarter of the bytes cross each way, over half of the link: M/4 / (L/2) = M / W at L = W/2 = 3.84 TB/s.
  const hardware::Gpu gpu = two_dies();
  const double bytes = 1e9;
  const double measured = bytes / (gpu.memory_tb_s * 1e12 * 0.9);
  const auto time = [&](double link) {
    return Dies(gpu, linked(link)).body_s(measured, measured, streamed_traffic(bytes, 0));
  };
  CHECK(time(10) == measured);
  CHECK(time(5) == measured);
  CHECK(time(3.85) == measured);
  CHECK(time(3.82) > measured);
  CHECK(time(2) / measured == Approx(7.672 / 4));
  CHECK(time(1) / measured == Approx(7.672 / 2));
}

TEST_CASE("a link as measured changes no step by a picosecond") {
  const hardware::Gpu gpu = two_dies();
  for (const StepShape& shape : {decoding(1, 1000), decoding(256, 4000)}) {
    const StepTime as_is = step_of(gpu, {}, shape);
    CHECK(step_of(gpu, linked(10), shape).total == as_is.total);
    hardware::Gpu one = gpu;  // nothing is known of its dies: the times are the same
    one.dies = 1;
    one.die_link_tb_s = 0;
    CHECK(step_of(one, {}, shape).total == as_is.total);
  }
}

TEST_CASE("halving the link slows what is heavy on the L2, and nothing else") {
  const model::Architecture a = samples::llama_70b();
  const hardware::Gpu gpu = two_dies();
  StepModelInput in = samples::input(a, gpu);
  const StepModel whole(in);
  in.device = linked(5);
  const StepModel half(in);
  int slowed = 0;
  for (const std::int32_t n : {1, 16, 64, 8192}) {
    const auto before = whole.token_times(n);
    const auto after = half.token_times(n);
    for (std::size_t i = 0; i < before.size(); ++i) {
      CAPTURE(n, before[i].op->name);
      const double needs = half.dies().crossing_s(half.traffic(*before[i].op, n));
      const bool short_of_link = needs > before[i].time.roofline_s();
      CHECK((after[i].time.total_s() > before[i].time.total_s()) == short_of_link);
      if (short_of_link) CHECK(n == 8192);
      if (short_of_link) CHECK(before[i].op->kind == Kind::Gemm);
      slowed += short_of_link ? 1 : 0;
    }
  }
  CHECK(slowed > 0);
  // Decode attention streams: it has room at half the link.
  CHECK(half.decode(0, 64, 64 * 4000, false).seconds() == whole.decode(0, 64, 64 * 4000, false).seconds());
}

TEST_CASE("a slower link never makes a step faster") {
  StepTime last{};
  for (const double link : {20.0, 10.0, 5.0, 2.0, 1.0}) {
    const StepTime t = step_of(two_dies(), linked(link), decoding(256, 4000));
    CHECK(t.total >= last.total);
    last = t;
  }
}

TEST_CASE("localised weights and caches hardly cross, and small kernels wait less") {
  DeviceSettings local;
  local.placement = Placement::Localised;
  const Dies dies(two_dies(), local);
  CHECK(dies.crossing_bytes(streamed_traffic(8e12, 0)) == Approx(0.2e12));
  CHECK(dies.crossing_bytes(streamed_traffic(0, 8e12)) == 2e12);
  CHECK(dies.launch_s() == Approx(-3 * 0.45 * 60e-9));
  CHECK(step_of(two_dies(), local, decoding(1, 1000)).total < step_of(two_dies(), {}, decoding(1, 1000)).total);
  local.die_link_tb_s = 2;
  CHECK(step_of(two_dies(), local, decoding(1, 1000)).total < step_of(two_dies(), linked(2), decoding(1, 1000)).total);
}

TEST_CASE("a device per die reduces over the link between them") {
  DeviceSettings split;
  split.placement = Placement::DevicePerDie;
  const hardware::Gpu gpu = two_dies();
  CHECK(ranks_per_gpu(split, gpu) == 2);
  const hardware::Gpu die = rank_device(split, gpu);
  const StepTime t = step_of(die, split, decoding(64, 1000));
  // 161 all-reduces of 64 x 8192 BF16: 2 us and 4 TB/s; the gather of logits the same way.
  const double bytes = 64 * 8192 * 2.0;
  const double logits = 64 * 128256 * 2.0;
  CHECK(core::to_seconds(t.network) == Approx(161 * (2e-6 + bytes / 4e12) + 2e-6 + logits / 4e12));
  // Streams take as long as on the whole GPU: half the bytes at half the rate.
  const StepTime whole = step_of(gpu, {}, decoding(64, 1000));
  CHECK(core::to_seconds(t.memory) == Approx(core::to_seconds(whole.memory)).epsilon(0.05));
  CHECK(step_of(gpu, {}, decoding(64, 1000)).network.ps == 0);
}

TEST_CASE("the rows about dies say what crosses and what limits") {
  const model::Architecture a = samples::llama_70b();
  const hardware::Gpu gpu = two_dies();
  StepModelInput in = samples::input(a, gpu);
  const auto rows = explain_dies(StepModel(in), decoding(64, 1000), {});
  REQUIRE_FALSE(rows.empty());
  for (const DieRow& r : rows) {
    CHECK(r.crossing_bytes <= r.l2_bytes / 2);
    CHECK(r.headroom > 0);
    CHECK(r.limit != "die link");
  }
  in.device = linked(0.5);
  bool limited = false;
  for (const DieRow& r : explain_dies(StepModel(in), decoding(64, 1000), {})) limited |= r.limit == "die link";
  CHECK(limited);
  const hardware::Gpu one = samples::h100();
  CHECK(explain_dies(StepModel(samples::input(a, one)), decoding(64, 1000), {}).empty());
}

TEST_CASE("placements and links that a GPU does not have are refused") {
  core::Problems problems;
  DeviceSettings d = linked(5);
  d.placement = Placement::DevicePerDie;
  check_device(d, samples::h100(), problems, "/pools/0/device");
  REQUIRE(problems.lines().size() == 2);
  CHECK(
      problems.lines()[0].find("/pools/0/device/placement: device_per_die needs two dies, and h100 has a single die") !=
      std::string::npos);
  hardware::Gpu b200 = two_dies();
  b200.tdp_w = 1000;
  for (const auto& [watts, lines] : {std::pair(1000.0, 0u), {1001.0, 1u}, {399.0, 1u}, {400.0, 0u}}) {
    core::Problems power;
    DeviceSettings limit;
    limit.power_limit_w = watts;
    check_device(limit, b200, power, "x");
    CHECK(power.lines().size() == lines);
  }
}
