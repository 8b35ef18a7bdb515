#include "scenario/precision_policy.hpp"

#include "catch.hpp"
#include "scenario/build.hpp"
#include "scenario/precision_report.hpp"

#include <algorithm>
#include <string>

using namespace servecast;
using namespace servecast::scenario;
using precision::Format;

namespace {

constexpr const char* dynamic = "/pools/0/precision={\"policy\":\"dynamic\",\"attention\":\"fp8\"}";

Resolved resolved(std::vector<std::string> more = {}) {
  more.insert(more.begin(), dynamic);
  return resolve({"quickstart", more, {}});
}

std::vector<std::string> problems_of(const std::vector<std::string>& sets) {
  try {
    resolve({"quickstart", sets, {}});
  } catch (const core::InputError& error) {
    return error.lines();
  }
  return {};
}

bool names(const std::vector<std::string>& lines, const std::string& part) {
  return std::any_of(lines.begin(), lines.end(),
                     [&](const std::string& l) { return l.find(part) != std::string::npos; });
}

int width(Format f) { return f == Format::Nvfp4 ? 4 : f == Format::Fp8 ? 8 : 16; }

model::LayerStatistics range(std::int32_t first, std::int32_t count, double outliers) {
  model::LayerStatistics l;
  l.first = first;
  l.count = count;
  l.inputs.outlier_share = outliers;
  l.inputs.outlier_factor = outliers > 0 ? 50 : 1;
  return l;
}

}  // namespace

TEST_CASE("a higher floor never gives a block a narrower format") {
  const Resolved r = resolved();
  std::vector<Format> before;
  for (double floor = 0; floor <= 60; floor += 2) {
    const PrecisionChoice p = choose_precision(r.model, r.gpu, floor);
    const std::vector<Format> now = p.feed_forward();
    REQUIRE(now.size() == 80);
    for (std::size_t i = 0; i < before.size(); ++i) CHECK(width(now[i]) >= width(before[i]));
    for (const BlockChoice& b : p.blocks) CHECK(b.below_floor == (b.quality_db < floor));
    before = now;
  }
  CHECK(choose_precision(r.model, r.gpu, 0).feed_forward() == std::vector<Format>(80, Format::Nvfp4));
  CHECK(before == std::vector<Format>(80, Format::BFloat16));
}

TEST_CASE("the assumed profile leaves the middle in NVFP4 and the ends in FP8") {
  const Resolved r = resolved();
  REQUIRE(r.pools[0].precision.has_value());
  const PrecisionChoice& p = *r.pools[0].precision;
  CHECK(p.assumed);
  CHECK(p.floor_db == default_quality_floor_db);
  const std::vector<Format> blocks = p.feed_forward();
  CHECK(blocks == r.pools[0].formats.feed_forward);
  CHECK(blocks.front() == Format::Fp8);
  CHECK(blocks.back() == Format::Fp8);
  CHECK(blocks[40] == Format::Nvfp4);
  for (std::size_t i = 0; i < 40; ++i) CHECK(blocks[i] == blocks[79 - i]);
  CHECK(std::is_sorted(blocks.begin(), blocks.begin() + 40, [](Format a, Format b) { return width(a) > width(b); }));
}

TEST_CASE("a GPU without FP4 rates is offered FP8 and BF16") {
  const Resolved r = resolve({"quickstart", {dynamic, "/cluster/node=\"hgx-h100\""}, {}});
  const PrecisionChoice& p = *r.pools[0].precision;
  CHECK(p.candidates == std::vector<Format>{Format::Fp8, Format::BFloat16});
  CHECK(p.feed_forward() == std::vector<Format>(80, Format::Fp8));
}

TEST_CASE("distributions of the model file decide where it has them") {
  Resolved r = resolved();
  model::TensorStatistics s;
  s.source = "measured by me";
  s.layers = {range(2, 78, 0), range(0, 2, 0.05)};
  r.model.tensor_statistics = s;
  const PrecisionChoice p = choose_precision(r.model, r.gpu, 18);
  CHECK_FALSE(p.assumed);
  CHECK(p.source == "measured by me");
  REQUIRE(p.blocks.size() == 2);
  CHECK(p.blocks[0].count == 2);
  CHECK(p.blocks[0].format == Format::Fp8);
  CHECK(p.blocks[1].format == Format::Nvfp4);
  CHECK(summary(p) == "2 blocks in fp8, 78 in nvfp4");
}

TEST_CASE("memory and step lie between those of the narrowest and the widest format") {
  const auto use = precision_use(resolved(), 0, true);
  REQUIRE(use.has_value());
  REQUIRE(use->uniform.size() == 3);
  CHECK(use->uniform[0].format == "nvfp4");
  CHECK(use->uniform[2].format == "bf16");
  CHECK(use->chosen.weights_bytes > use->uniform[0].weights_bytes);
  CHECK(use->chosen.weights_bytes < use->uniform[1].weights_bytes);
  CHECK(use->uniform[1].weights_bytes < use->uniform[2].weights_bytes);
  CHECK(*use->chosen.decode_step_us > *use->uniform[0].decode_step_us);
  CHECK(*use->chosen.decode_step_us < *use->uniform[2].decode_step_us);
  // 80 x 3 x 8192 x 28672 elements on two GPUs: 0.5625 of a byte, one, and two.
  const double elements = 80.0 * 3 * 8192 * 28672 / 2;
  CHECK(use->uniform[1].weights_bytes - use->uniform[0].weights_bytes == Approx(elements * 0.4375).epsilon(1e-6));
  CHECK(use->uniform[2].weights_bytes - use->uniform[1].weights_bytes == Approx(elements).epsilon(1e-6));
  CHECK_FALSE(precision_use(resolve({"quickstart", {}, {}}), 0, true).has_value());
}

TEST_CASE("other classes keep their own formats under the dynamic policy") {
  const Resolved r = resolved();
  CHECK(r.pools[0].formats.attention == Format::Fp8);
  CHECK(r.pools[0].activations == Format::Fp8);
  CHECK(r.pools[0].formats.lm_head == Format::BFloat16);
  CHECK(r.pools[0].formats.router == Format::BFloat16);
}

TEST_CASE("keys that contradict the policy are refused") {
  const auto with = [](const std::string& precision) {
    return problems_of({"/pools/0/precision={" + precision + "}"});
  };
  for (const std::string key : {"weights", "mlp", "experts", "activations"}) {
    const auto lines = with("\"policy\":\"dynamic\",\"" + key + "\":\"fp8\"");
    INFO(key);
    CHECK(names(lines, "/pools/0/precision/" + key));
    CHECK(names(lines, "the dynamic policy chooses it"));
  }
  CHECK(names(with("\"quality_floor_db\":20"), "belongs to the dynamic policy"));
  CHECK(names(with("\"policy\":\"dynamic\",\"quality_floor_db\":-1"), "quality_floor_db"));
}

TEST_CASE("statistics that miss a block or describe it twice are refused") {
  for (const auto& [layers, part] :
       {std::pair<std::vector<model::LayerStatistics>, std::string>{{range(0, 79, 0)}, "block 79 is described 0 times"},
        {{range(0, 80, 0), range(5, 1, 0)}, "block 5 is described 2 times"},
        {{range(0, 81, 0)}, "block 80 is beyond"}}) {
    model::Architecture m = resolved().model;
    m.tensor_statistics = model::TensorStatistics{layers, "here"};
    std::vector<std::string> lines;
    model::check(m, [&](std::string_view, const std::string& message) { lines.push_back(message); });
    INFO(part);
    CHECK(names(lines, part));
  }
}
