// What paging gains over contiguous KV memory, by the committed experiment of scenarios/papers/pagedattention.json. The
// shares and the bands are the study's (Kwon et al. 2023, figure 2 and section 6); nothing here is fitted to them.
#include "catch.hpp"
#include "scenario/build.hpp"
#include "scenario/run.hpp"

#include <array>
#include <cmath>
#include <string>
#include <vector>

using namespace servecast;

namespace {

// Per cent of the KV memory, as the study measured them.
struct Row {
  const char* allocation;
  double token_states, reservation, internal, external;
};
constexpr std::array<Row, 3> contiguous = {{{"contiguous_max", 20.4, 13.3, 57.3, 8.9},
                                            {"contiguous_pow2", 26.8, 17.9, 13.6, 41.6},
                                            {"contiguous_oracle", 38.2, 25.2, 0, 36.6}}};
constexpr double paged_token_states = 96.3;
constexpr double points = 8;  // how far a share may be off

metrics::Result run(const std::string& allocation) {
  const std::string set = "/pools/0/engine/kv_allocation=" + allocation;
  return scenario::run(scenario::resolve({"pagedattention", {set}, {}}), {}).result;
}

bool near(double share, double percent) { return std::abs(share * 100 - percent) <= points; }

}  // namespace

TEST_CASE("shares of KV memory are those that the PagedAttention study measured, within eight points") {
  double last = 0;
  for (const Row& row : contiguous) {
    const metrics::KvUse use = run(row.allocation).memory.at(0).use;
    INFO(row.allocation << ": " << use.token_states << " " << use.reservation << " " << use.internal << " "
                        << use.external);
    CHECK(near(use.token_states, row.token_states));
    CHECK(near(use.reservation, row.reservation));
    CHECK(near(use.internal, row.internal));
    CHECK(near(use.external, row.external));
    CHECK(use.token_states > last);
    last = use.token_states;
  }
  const metrics::KvUse paged = run("paged").memory.at(0).use;
  CHECK(near(paged.token_states, paged_token_states));
  CHECK(paged.token_states > last);
  CHECK(paged.waste() < 0.04);
}

TEST_CASE("a saturated paged engine serves 1.7 to 2.7 times an oracle's rate, 2.7 to 8 times that of the longest") {
  const auto rate = [](const std::string& allocation) { return run(allocation).throughput->requests_per_s; };
  const double paged = rate("paged");
  const double over_oracle = paged / rate("contiguous_oracle");
  const double over_pow2 = paged / rate("contiguous_pow2");
  const double over_max = paged / rate("contiguous_max");
  INFO(over_oracle << " " << over_pow2 << " " << over_max);
  CHECK((over_oracle >= 1.7 && over_oracle <= 2.7));
  CHECK((over_max >= 2.7 && over_max <= 8));
  CHECK((over_pow2 > over_oracle && over_pow2 < over_max));
}

TEST_CASE("what sequences of a request save by sharing grows with their number, beams above samples, below its bound") {
  for (const std::string scenario : {"sharing-alpaca", "sharing-sharegpt"}) {
    double last_samples = 0, last_beam = 0;
    for (const int n : {2, 4, 6}) {
      const auto saved = [&](const std::vector<std::string>& sets) {
        return *scenario::run(scenario::resolve({scenario, sets, {}}), {}).result.memory.at(0).saved_by_sharing;
      };
      const std::string number = std::to_string(n);
      const double samples = saved({"/workload/samples=" + number});
      const double beam = saved({"/workload/samples=null", "/workload/beam/width=" + number});
      INFO(scenario << " " << n << ": " << samples << " " << beam);
      CHECK(samples > last_samples);
      CHECK(beam > last_beam);
      CHECK(beam > samples);
      CHECK(beam < 1.0 - 1.0 / n);
      last_samples = samples;
      last_beam = beam;
    }
    if (scenario == "sharing-sharegpt") {
      CHECK((last_samples > 0.16 && last_samples < 0.31));  // the study's range for parallel sampling
    }
  }
}

TEST_CASE("samples that are requests of their own save through a prefix cache what forks of a group save, to a point") {
  for (const int n : {2, 6}) {
    const auto saved = [n](std::vector<std::string> sets) {
      sets.push_back("/workload/samples=" + std::to_string(n));
      return *scenario::run(scenario::resolve({"sharing-sharegpt", sets, {}}), {}).result.memory.at(0).saved_by_sharing;
    };
    const double forks = saved({});
    for (const std::string stack : {"vllm-0.19", "trtllm-1"}) {
      const double cache = saved({"/pools/0/stack=" + stack, "/pools/0/engine/swap_space_gib=null"});
      INFO(stack << " " << n << ": " << cache << ", forks " << forks);
      CHECK(std::abs(cache - forks) < 0.01);
    }
  }
}
