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
using cost::kernels::Score;

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

bool misses(const Score& s, const Level& level) { return s.median > level.median || s.p90 > level.p90; }

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
    bool has_level = false;
    const Fit* worst = fits.front();
    for (const Fit* f : fits) {
      rows += f->rows;
      if (f->cross_validated.median > worst->cross_validated.median) worst = f;
      if (!within_study(named.profile, f->key)) continue;
      if (const auto level = level_of(named.profile, *f))
        has_level = true, beyond += misses(judged(named.profile, *f), *level) ? 1 : 0;
    }
    family_medians.push_back(median_over(fits));
    text += fmt::format("| {} | {} | {} | {} | {} | {} | {} / {} | {} |\n", named.stack, named.profile.gpu,
                        names_of(family)[static_cast<std::size_t>(family)], fits.size(), core::count_text(rows),
                        percent(family_medians.back()), percent(worst->cross_validated.median),
                        percent(worst->cross_validated.p90), has_level ? std::to_string(beyond) : "-");
  }
  return text;
}

std::string exceptions(const NamedProfile& named, bool studied) {
  std::string text;
  for (const Fit& f : named.profile.fits) {
    const auto level = f.cross_validated.rows > 0 ? level_of(named.profile, f) : std::nullopt;
    if (!level || within_study(named.profile, f.key) != studied) continue;
    if (!misses(judged(named.profile, f), *level)) continue;
    const std::string_view family = names_of(f.key.family)[static_cast<std::size_t>(f.key.family)];
    const std::string tail = level->p90 < 1 ? percent(level->p90) : "-";
    const std::string all = f.sound_tactics.rows > 0
                                ? fmt::format(" (with slow tactics {} / {})", percent(f.cross_validated.median),
                                              percent(f.cross_validated.p90))
                                : "";
    const Score& own = f.sound_tactics.rows > 0 ? f.sound_tactics : f.cross_validated;
    text += fmt::format("| {} | {} | {}: {} | {} / {}{} | {} / {} |\n", named.stack, named.profile.gpu, family,
                        name_of(f.key), percent(own.median), percent(own.p90), all, percent(level->median), tail);
  }
  return text;
}

std::string exceptions_table(const std::vector<NamedProfile>& profiles, bool studied) {
  std::string text = "| stack | GPU | fit | median / p90 % | level % |\n|---|---|---|---|---|\n";
  for (const NamedProfile& p : profiles) text += exceptions(p, studied);
  return text;
}

std::string slow_tactics(const std::vector<NamedProfile>& profiles) {
  std::string text;
  for (const NamedProfile& p : profiles)
    for (const Fit& f : p.profile.fits) {
      if (f.slow_curves.empty()) continue;
      text += fmt::format("\n{} on {}, {} (all rows {} / {}, without these {} / {}):\n\n", p.stack, p.profile.gpu,
                          name_of(f.key), percent(f.cross_validated.median), percent(f.cross_validated.p90),
                          percent(f.sound_tactics.median), percent(f.sound_tactics.p90));
      for (const std::string& line : f.slow_curves) text += "- " + line + "\n";
    }
  return text;
}

}  // namespace

Score judged(const KernelProfile& profile, const Fit& fit) {
  if (fit.sound_tactics.rows > 0) return fit.sound_tactics;
  if (fit.key.family != Family::MlaDecode) return fit.cross_validated;
  Score mean;
  for (const Fit& f : profile.fits) {
    if (f.key.family != Family::MlaDecode || f.cross_validated.rows == 0) continue;
    mean.rows += 1, mean.median += f.cross_validated.median, mean.p90 += f.cross_validated.p90;
  }
  mean.median /= static_cast<double>(mean.rows), mean.p90 /= static_cast<double>(mean.rows);
  return mean;
}

bool within_study(const KernelProfile& p, const Key& k) {
  const auto stack = [&p](std::string_view name) { return p.stack.starts_with(name); };
  if (!stack("vllm-0.19.0") && !stack("sglang-0.5.9") && !stack("trtllm-1.3.0rc20")) return false;
  const bool attention = k.family == Family::Decode || k.family == Family::Prefill;
  if (attention && p.gpu == "h200" && stack("vllm")) return false;
  if (k.family != Family::Moe) return true;
  const bool common =
      k.type == DataType::Bf16 || k.type == DataType::Fp8 || k.type == DataType::Fp8Block || k.type == DataType::Nvfp4;
  return common && !k.variant.ends_with("-nongated");
}

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
  text += exceptions_table(profiles, true);
  text += "\nBeyond the same figures where the study has none (other versions, formats and classes):\n\n";
  text += exceptions_table(profiles, false);
  text +=
      "\nMoE curves on a slow tactic: hidden x inter, top k of experts, routing, then each tensor and expert parallel\n"
      "split with the median of measured / predicted.\n";
  return text + slow_tactics(profiles);
}

}  // namespace servecast::calibrate
