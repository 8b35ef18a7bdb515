#include "calibrate/levels.hpp"

#include "core/statistics.hpp"
#include "core/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>

namespace servecast::calibrate {
namespace {

using cost::kernels::DataType;
using cost::kernels::Family;
using cost::kernels::Fit;
using cost::kernels::KernelProfile;
using cost::kernels::Key;

std::optional<Level> moe_level(const KernelProfile& p, const Key& k) {
  const bool trtllm = p.stack.starts_with("trtllm");
  if (!k.variant.starts_with("skewed")) return std::nullopt;
  if (trtllm && k.type == DataType::Fp8Block) return Level{0.055, 0.15};
  if (p.architecture != "blackwell") return trtllm ? std::optional(Level{0.08, 1.0}) : std::nullopt;
  const bool triton = k.kernel.find("triton") != std::string::npos && k.type == DataType::Bf16;
  return triton && p.stack.starts_with("sglang") ? Level{0.12, 0.34} : Level{0.10, 0.27};
}

std::string percent(double share) { return fmt::format("{:.1f}", 100 * share); }

std::string name_of(const Key& k) {
  std::string out(names_of(k.type)[static_cast<std::size_t>(k.type)]);
  if (k.kv != DataType::Bf16) out += fmt::format(", cache {}", names_of(k.kv)[static_cast<std::size_t>(k.kv)]);
  if (!k.variant.empty()) out += ", " + k.variant;
  if (!k.kernel.empty()) out += ", " + k.kernel;
  return out;
}

bool misses(const Fit& f, const Level& level) {
  return f.cross_validated.median > level.median || f.cross_validated.p90 > level.p90;
}

using ByFamily = std::map<Family, std::vector<const Fit*>>;

ByFamily by_family(const KernelProfile& p) {
  ByFamily out;
  for (const Fit& f : p.fits)
    if (f.cross_validated.rows > 0) out[f.key.family].push_back(&f);
  return out;
}

double median_over(const std::vector<const Fit*>& fits) {
  std::vector<double> medians;
  for (const Fit* f : fits) medians.push_back(f->cross_validated.median);
  return core::percentile(medians, 50);
}

std::string family_rows(const NamedProfile& named, std::vector<double>& family_medians) {
  std::string text;
  for (const auto& [family, fits] : by_family(named.profile)) {
    std::int64_t rows = 0;
    int beyond = 0;
    bool judged = false;
    const Fit* worst = fits.front();
    for (const Fit* f : fits) {
      rows += f->rows;
      if (f->cross_validated.median > worst->cross_validated.median) worst = f;
      if (const auto level = level_of(named.profile, *f)) judged = true, beyond += misses(*f, *level) ? 1 : 0;
    }
    family_medians.push_back(median_over(fits));
    text += fmt::format("| {} | {} | {} | {} | {} | {} | {} / {} | {} |\n", named.stack, named.profile.gpu,
                        names_of(family)[static_cast<std::size_t>(family)], fits.size(), core::count_text(rows),
                        percent(family_medians.back()), percent(worst->cross_validated.median),
                        percent(worst->cross_validated.p90), judged ? std::to_string(beyond) : "-");
  }
  return text;
}

std::string exceptions(const NamedProfile& named) {
  std::string text;
  for (const Fit& f : named.profile.fits) {
    const auto level = f.cross_validated.rows > 0 ? level_of(named.profile, f) : std::nullopt;
    if (!level || !misses(f, *level)) continue;
    const std::string_view family = names_of(f.key.family)[static_cast<std::size_t>(f.key.family)];
    const std::string tail = level->p90 < 1 ? percent(level->p90) : "-";
    text += fmt::format("| {} | {} | {}: {} | {} / {} | {} / {} |\n", named.stack, named.profile.gpu, family,
                        name_of(f.key), percent(f.cross_validated.median), percent(f.cross_validated.p90),
                        percent(level->median), tail);
  }
  return text;
}

}  // namespace

std::optional<Level> level_of(const KernelProfile& profile, const Fit& fit) {
  const Key& k = fit.key;
  const bool hopper = profile.architecture == "hopper";
  switch (k.family) {
    case Family::Gemm: return Level{0.065, 0.20};
    case Family::Decode: return k.variant.starts_with("gqa") ? std::optional(Level{0.045, 0.16}) : std::nullopt;
    case Family::Prefill: return Level{0.065, 0.19};
    case Family::MlaPrefill: return hopper ? std::nullopt : std::optional(Level{0.03, 0.08});
    case Family::MlaDecode: return hopper ? Level{0.04, 0.13} : Level{0.15, 0.32};
    case Family::Moe: return moe_level(profile, k);
    case Family::DispatchLowLatency:
    case Family::CombineLowLatency: return Level{0.08, 0.24};
    default: return std::nullopt;
  }
}

std::string profiles_markdown(const std::vector<NamedProfile>& profiles) {
  std::string text =
      "| stack | GPU | family | fits | rows | median over fits % | worst fit, median / p90 % | beyond its level |\n"
      "|---|---|---|---|---|---|---|---|\n";
  std::vector<double> family_medians;
  for (const NamedProfile& p : profiles) text += family_rows(p, family_medians);
  text += fmt::format("\nMedian over families: {} %.\n\nBeyond their level:\n\n",
                      percent(core::percentile(family_medians, 50)));
  text += "| stack | GPU | fit | median / p90 % | level % |\n|---|---|---|---|---|\n";
  for (const NamedProfile& p : profiles) text += exceptions(p);
  return text;
}

}  // namespace servecast::calibrate
