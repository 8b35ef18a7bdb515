// Laws of the device that must hold whatever the constants are: a run under a what-if of dies or power differs from the
// measured device in the direction that physics gives, and energy adds up.
#include "catch.hpp"
#include "scenario/run.hpp"

#include <string>
#include <vector>

using namespace servecast;

namespace {

metrics::Result run(const std::vector<std::string>& sets) {
  std::vector<std::string> all = {"/workload/requests=300"};
  all.insert(all.end(), sets.begin(), sets.end());
  return scenario::run(scenario::resolve({"quickstart", all, {}}), {}).result;
}

std::string device(const char* key, double value) {
  return "/pools/0/device/" + std::string(key) + "=" + std::to_string(value);
}

}  // namespace

TEST_CASE("a narrower link between dies never serves faster, and one of 5 TB/s or more leaves decoding alone") {
  const metrics::Result own = run({});
  double last = 0;
  for (const double link : {10.0, 5.0, 2.0, 1.0}) {
    const double tpot = run({device("die_link_tb_s", link)}).latency->tpot_ms.mean;
    CAPTURE(link);
    CHECK(tpot >= last);
    if (link == 5.0) CHECK(tpot == Approx(own.latency->tpot_ms.mean).epsilon(0.02));
    if (link == 1.0) CHECK(tpot > 1.3 * own.latency->tpot_ms.mean);
    last = tpot;
  }
}

TEST_CASE("a lower power limit never serves faster, and never draws more") {
  metrics::Result last = run({});
  for (const double limit : {800.0, 600.0, 400.0}) {
    const metrics::Result r = run({device("power_limit_w", limit)});
    CAPTURE(limit);
    CHECK(r.latency->ttft_ms.mean >= last.latency->ttft_ms.mean);
    CHECK(r.energy->peak_w <= last.energy->peak_w);
    last = r;
  }
}

TEST_CASE("energy is mean power times duration, and tokens share it") {
  const metrics::Result r = run({});
  const metrics::EnergyUse& e = *r.energy;
  CHECK(e.joules == Approx(e.mean_w * *r.duration_s));
  CHECK(e.joules_per_output_token == Approx(e.joules / static_cast<double>(r.requests.output_tokens)));
  CHECK(e.mean_w < e.peak_w);
}

TEST_CASE("a board that waits longer draws less on average and more per token") {
  const metrics::Result busy = run({});
  const metrics::Result quiet = run({"/workload/arrivals/rate_per_s=2"});
  CHECK(quiet.energy->mean_gpu_w < busy.energy->mean_gpu_w);
  CHECK(quiet.energy->mean_gpu_w > 245);
  CHECK(quiet.energy->joules_per_output_token > busy.energy->joules_per_output_token);
}
