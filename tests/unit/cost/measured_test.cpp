// Step times from kernel tables: hand-made profiles with round parameters and no residual surfaces.
#include "cost/measured.hpp"

#include "catch.hpp"
#include "cost/compiled.hpp"
#include "cost/explain.hpp"
#include "samples.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <ctime>

using namespace servecast;
using namespace servecast::cost;

namespace {

// A fit whose time is its parameters: physics without any surface, measured over wide bounds.
kernels::Fit fit(kernels::Family family, kernels::DataType type, const char* variant, double most) {
  kernels::Fit f;
  f.key.family = family;
  f.key.type = type;
  f.key.variant = variant;
  f.rows = 100;
  const kernels::FamilyInfo& info = kernels::info(family);
  f.measured.assign(info.features.size(), {0, most});
  kernels::Theta theta;
  for (std::size_t i = 0; i < info.parameters.size(); ++i) theta.values[i] = info.parameters[i].start;
  f.physics = {theta};
  if (family == kernels::Family::Decode || family == kernels::Family::Prefill) {
    f.physics = {theta, theta};
    f.physics[0].head_dim = 64;
    f.physics[1].head_dim = 128;
  }
  const std::vector<double> head_dims = {64, 128};
  for (const auto& axes : kernels::surface_axes(f.key, head_dims, false)) {
    kernels::SurfaceData s;
    std::size_t size = 1;
    for (const auto& axis : axes) size *= axis.size();
    s.axes = axes;
    s.residuals.assign(size, 0);
    f.surfaces.push_back(s);
  }
  return f;
}

kernels::KernelProfile profile(const char* gpu = "h100") {
  using kernels::DataType;
  using kernels::Family;
  kernels::KernelProfile p;
  p.gpu = gpu;
  p.architecture = "hopper";
  p.stack = "sample";
  constexpr double far = 1e9;
  p.fits = {fit(Family::Gemm, DataType::Bf16, "", far), fit(Family::Gemm, DataType::Fp8, "", far),
            fit(Family::Decode, DataType::Bf16, "gqa", far), fit(Family::Prefill, DataType::Bf16, "", far),
            fit(Family::Moe, DataType::Fp8, "skewed", far)};
  p.fits[2].key.kv = DataType::Fp8;
  p.fits[3].key.kv = DataType::Fp8;
  p.curves = {{"all_reduce", "graph", 2, {1024, 1 << 20}, {5, 20}}};
  return p;
}

KernelTables tables(const kernels::Kernels& k) {
  const KernelTables::List list = {{{&k}, {}, ""}};
  return {list, list, list, list, list};
}

StepModel model_with(const model::Architecture& a, const hardware::Gpu& g, const KernelTables& t,
                     std::int32_t tensor = 1) {
  StepModelInput in = samples::input(a, g, tensor);
  in.kernels = &t;
  return StepModel(in);
}

const ExplainRow& row(const Explanation& e, std::string_view name) {
  const auto found = std::find_if(e.rows.begin(), e.rows.end(), [name](const ExplainRow& r) { return r.name == name; });
  REQUIRE(found != e.rows.end());
  return *found;
}

bool has_row(const Explanation& e, std::string_view name) {
  return std::any_of(e.rows.begin(), e.rows.end(), [name](const ExplainRow& r) { return r.name == name; });
}

StepShape decoders(std::int32_t n, std::int64_t context) {
  StepShape s;
  s.decode_requests = s.sampled_rows = n;
  s.decode_context = n * context;
  return s;
}

}  // namespace

TEST_CASE("a measured multiplication takes what its table says and no launch floor on top") {
  const auto a = samples::llama_70b();
  const auto g = samples::h100();
  const kernels::Kernels k(profile(), g);
  const KernelTables t = tables(k);
  const Explanation e = explain(model_with(a, g, t), decoders(64, 1000), {});
  const auto down = k.gemm({64, 8192, 28672, kernels::DataType::Fp8});
  CHECK(row(e, "mlp down").seconds == Approx(80 * down->seconds));
  CHECK(row(e, "mlp down").origin == "measured");
  const auto head = k.gemm({64, 128256, 8192, kernels::DataType::Bf16});
  CHECK(row(e, "lm head").seconds == Approx(head->seconds));
}

TEST_CASE("measured decode attention includes its launches") {
  const auto a = samples::llama_70b();
  const auto g = samples::h100();
  const kernels::Kernels k(profile(), g);
  const KernelTables t = tables(k);
  const Explanation e = explain(model_with(a, g, t), decoders(64, 1024), {});
  const auto one = k.decode({64, 64, 8, 128, 1024, 0, kernels::DataType::Fp8});
  CHECK(row(e, "decode attention").seconds == Approx(80 * one->seconds));
  CHECK_FALSE(has_row(e, "attention launches"));
}

TEST_CASE("a prefill chunk is the difference of the measured curve of whole prompts, at least the chunk alone") {
  const auto a = samples::llama_70b();
  const auto g = samples::h100();
  const kernels::Kernels k(profile(), g);
  const KernelTables t = tables(k);
  const StepModel m = model_with(a, g, t);
  const auto at = [&](double n) {
    return 80 * k.prefill({1, n, 0, 64, 8, 128, 0, kernels::DataType::Bf16, kernels::DataType::Fp8})->seconds;
  };
  CHECK(m.chunk_s(0, 2048) == Approx(m.factor(true) * at(2048)));
  CHECK(m.chunk_s(4096, 8192) == Approx(m.factor(true) * (at(8192) - at(4096))));
  CHECK(m.chunk_s(4096, 4097) >= m.chunk_s(0, 1));
  const Explanation later = explain(m, {}, {{4096, 8192}});
  CHECK(row(later, "prefill attention").origin == "derived");
}

TEST_CASE("a table of routed experts replaces everything between router and combination by one operator") {
  const auto a = samples::gpt_oss_120b();
  const auto g = samples::h100();
  const kernels::Kernels k(profile(), g);
  const KernelTables t = tables(k);
  StepShape s = decoders(32, 500);
  s.decode_context_windowed = 32 * 128;
  const Explanation e = explain(model_with(a, g, t), s, {});
  const auto load = kernels::expert_load(32, 128, 4, 1, 1.2);
  kernels::MoeShape shape;
  shape.tokens = 32;
  shape.hidden = shape.inter = 2880;
  shape.experts = 128;
  shape.top_k = 4;
  shape.type = kernels::DataType::Fp8;
  CHECK(row(e, "routed experts").seconds == Approx(36 * k.moe(shape, load)->seconds).epsilon(0.02));
  CHECK_FALSE(has_row(e, "experts down"));
  CHECK_FALSE(has_row(e, "expert permutation"));
  CHECK(has_row(e, "expert choice"));
}

TEST_CASE("an operator that no table knows keeps its roofline and says so") {
  const auto a = samples::llama_70b();
  const auto g = samples::h100();
  kernels::KernelProfile p = profile();
  p.fits.erase(p.fits.begin() + 1);  // FP8 multiplications
  const kernels::Kernels k(p, g);
  const KernelTables t = tables(k);
  const Explanation with = explain(model_with(a, g, t), decoders(64, 1000), {});
  const Explanation without = explain(StepModel(samples::input(a, g)), decoders(64, 1000), {});
  CHECK(row(with, "mlp down").seconds == row(without, "mlp down").seconds);
  CHECK(row(with, "mlp down").origin == "datasheet");
  CHECK(row(with, "lm head").origin == "measured");
}

TEST_CASE("tables of one operator are asked in order") {
  const auto a = samples::llama_70b();
  const auto g = samples::h100();
  kernels::KernelProfile slow = profile();
  slow.fits.erase(slow.fits.begin() + 1);
  const kernels::Kernels first(slow, g);
  const kernels::Kernels second(profile(), g);
  KernelTables t;
  t.gemm = {{{&first}, {}, ""}, {{&second}, {}, ""}};
  const Explanation e = explain(model_with(a, g, t), decoders(64, 1000), {});
  CHECK(row(e, "mlp down").origin == "measured");
  CHECK(row(e, "decode attention").origin == "datasheet");
  CHECK(has_row(e, "attention launches"));
}

TEST_CASE("of several tables in one choice the fastest times each size") {
  const auto a = samples::llama_70b();
  const auto g = samples::h100();
  kernels::KernelProfile slow = profile();
  for (kernels::Fit& fit : slow.fits)
    if (fit.key.family == kernels::Family::Gemm) fit.physics[0].values[0] *= 50;  // launch time
  const kernels::Kernels first(slow, g);
  const kernels::Kernels second(profile(), g);
  KernelTables both;
  both.gemm = {{{&first, &second}, {}, ""}};
  KernelTables one;
  one.gemm = {{{&second}, {}, ""}};
  const Explanation e = explain(model_with(a, g, both), decoders(64, 1000), {});
  CHECK(row(e, "mlp down").seconds == row(explain(model_with(a, g, one), decoders(64, 1000), {}), "mlp down").seconds);
}

TEST_CASE("a measured kernel's time goes to the roof its work is nearer to, but for its launch") {
  const auto a = samples::llama_70b();
  const auto g = samples::h100();
  const kernels::Kernels k(profile(), g);
  const KernelTables t = tables(k);
  CHECK(row(explain(model_with(a, g, t), decoders(64, 1000), {}), "mlp down").limit == Resource::Memory);
  CHECK(row(explain(model_with(a, g, t), decoders(1, 1), {{0, 8000}}), "mlp down").limit == Resource::Compute);
  CHECK(row(explain(model_with(a, g, t), decoders(64, 1000), {}), "decode attention").launches == 80);
}

TEST_CASE("a choice for other types is passed over") {
  const auto a = samples::llama_70b();
  const auto g = samples::h100();
  const kernels::Kernels k(profile(), g);
  KernelTables t;
  t.gemm = {{{&k}, {kernels::DataType::Nvfp4}, ""}};
  CHECK(row(explain(model_with(a, g, t), decoders(64, 1000), {}), "mlp down").origin == "datasheet");
  t.gemm.push_back({{&k}, {kernels::DataType::Fp8, kernels::DataType::Bf16}, ""});
  CHECK(row(explain(model_with(a, g, t), decoders(64, 1000), {}), "mlp down").origin == "measured");
}

TEST_CASE("types that a GPU's tensor cores do not multiply are unknown on it") {
  auto g = samples::h100();
  const kernels::Kernels native(profile(), g);
  CHECK(native.gemm({64, 8192, 8192, kernels::DataType::Fp8}).has_value());
  g.dense.fp8 = 0;
  const kernels::Kernels without(profile(), g);
  CHECK(!without.gemm({64, 8192, 8192, kernels::DataType::Fp8}).has_value());
  CHECK(without.gemm({64, 8192, 8192, kernels::DataType::Bf16}).has_value());
}

TEST_CASE("measured collectives keep their latency when the link is shared") {
  const auto a = samples::llama_70b();
  const auto g = samples::h100();
  const kernels::Kernels k(profile(), g);
  const KernelTables t = tables(k);
  const StepModel m = model_with(a, g, t, 2);
  const Explanation e = explain(m, decoders(64, 1000), {});
  const double each = k.all_reduce(64 * 8192 * 2, 2, true)->seconds;
  CHECK(row(e, "all-reduce").seconds == Approx(161 * each));
  const StepTime full = m.step(decoders(64, 1000));
  const StepTime half = m.step(decoders(64, 1000), {0.5, 1, 1});
  CHECK(half.network.ps > full.network.ps);
  CHECK(half.network.ps < 2 * full.network.ps);
}

TEST_CASE("times of a sibling GPU are derived, and outside a table they are extrapolated") {
  const auto a = samples::llama_70b();
  const auto g = samples::h100();
  kernels::KernelProfile p = profile("h200");
  for (kernels::Fit& f : p.fits) f.measured.front().max = 32;
  const kernels::Kernels k(p, g);
  const KernelTables t = tables(k);
  const StepModel m = model_with(a, g, t);
  const TimeOrigins inside = origins(explain(m, decoders(16, 1000), {}));
  const TimeOrigins outside = origins(explain(m, decoders(64, 1000), {}));
  CHECK(inside.measured == 0);
  CHECK(inside.derived > 0.5);
  CHECK(inside.extrapolated == 0);
  CHECK(outside.extrapolated > 0.5);
  CHECK(outside.derived + outside.datasheet + outside.constant == Approx(1));
}

TEST_CASE("compiled steps follow measured times and never fall with tokens or context") {
  for (const auto& a : {samples::llama_70b(), samples::gpt_oss_120b()}) {
    const auto g = samples::h100();
    const kernels::Kernels k(profile(), g);
    const KernelTables t = tables(k);
    const StepModel m = model_with(a, g, t);
    const CompiledCost c(m);
    std::int64_t last = 0;
    for (std::int32_t n = 1; n <= 256; ++n) {
      StepShape s = decoders(n, 3000);
      s.decode_context_windowed = n * 128;
      const std::int64_t compiled = c.step(s).total.ps;
      CHECK(static_cast<double>(compiled) == Approx(static_cast<double>(m.step(s).total.ps)).epsilon(0.01));
      CHECK(compiled >= last);
      last = compiled;
    }
    for (const auto& [from, to] : {std::pair{0, 1}, std::pair{0, 5000}, std::pair{777, 3001}, std::pair{9000, 16384}})
      CHECK(core::to_seconds(c.chunk(from, to)) == Approx(m.chunk_s(from, to)).epsilon(1e-6));
  }
}

TEST_CASE("a curve of tokens is exact at its knots and linear between") {
  const TokenCurve c(5000, [](std::int64_t n) { return n * n; });
  for (std::int32_t n = 0; n < 128; ++n) CHECK(c.at(n) == std::int64_t{n} * n);
  CHECK(c.at(4096) == 4096LL * 4096);
  CHECK(c.at(4096 + 32) == (4096LL * 4096 + 4160LL * 4160) / 2);
  CHECK(c.at(5000) >= c.at(4999));
}

// For a person to look at.
TEST_CASE("milliseconds to compile a model with tables", "[.][speed]") {
  const auto g = samples::h100();
  for (const auto& a : {samples::llama_70b(), samples::gpt_oss_120b(), samples::deepseek_v3(true)}) {
    const kernels::Kernels k(profile(), g);
    const KernelTables t = tables(k);
    StepModelInput in = samples::input(a, g, 2);
    in.max_num_seqs = 1024;
    in.max_model_len = 131072;
    in.kernels = &t;
    const std::clock_t begin = std::clock();
    const StepModel m(in);
    const std::clock_t made = std::clock();
    const CompiledCost c(m);
    const auto ms = [](std::clock_t ticks) { return 1e3 * static_cast<double>(ticks) / CLOCKS_PER_SEC; };
    fmt::print("{}: model {:.1f} ms, compiled {:.1f} ms, tables {:.2f} MB\n", a.name, ms(made - begin),
               ms(std::clock() - made), static_cast<double>(c.table_bytes()) / 1048576.0);
  }
}

TEST_CASE(
    "conversions by kernels of their own take what the quantisation table says, unless multiplications contain them") {
  const auto a = samples::llama_70b();
  const auto g = samples::h100();
  kernels::KernelProfile p = profile();
  p.fits.push_back(fit(kernels::Family::Quantise, kernels::DataType::Fp8, "scale", 1e9));
  const kernels::Kernels measured(p, g);
  p.fits.erase(p.fits.begin() + 1);  // FP8 multiplications
  const kernels::Kernels alone(p, g);
  StepModelInput in = samples::input(a, g);
  in.precision.conversion = Conversion::Kernel;
  const auto steps = [&](const kernels::Kernels& k) {
    KernelTables t = tables(k);
    t.quantise = t.gemm;
    in.kernels = &t;
    return explain(StepModel(in), decoders(64, 1000), {});
  };
  const Explanation own = steps(alone);
  CHECK(row(own, "convert for down").origin == "measured");
  CHECK(row(own, "convert for down").launches == 80);
  CHECK(row(own, "convert for down").seconds == Approx(80 * alone.quantise(64, 28672, false)->seconds).epsilon(1e-9));
  CHECK_FALSE(has_row(steps(measured), "convert for down"));
  CHECK(row(steps(measured), "mlp down").origin == "measured");
}
