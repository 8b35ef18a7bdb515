// `calibrate`: fits kernel profiles to operator tables, scores profiles on them, shows what a profile holds.
#include "calibrate/curves.hpp"
#include "calibrate/fit.hpp"
#include "calibrate/levels.hpp"
#include "calibrate/profile_text.hpp"
#include "calibrate/score.hpp"
#include "cli/output.hpp"
#include "cli/verbs.hpp"
#include "config/closest.hpp"
#include "config/json_reader.hpp"
#include "config/json_text.hpp"
#include "core/error.hpp"
#include "core/units.hpp"
#include "report/table.hpp"
#include "scenario/kernel_profiles.hpp"
#include "scenario/library.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <set>

namespace servecast::cli {

namespace {

using calibrate::Dataset;
using calibrate::KeyRows;
using calibrate::ScoreLine;
using cost::kernels::FittedKernel;
using cost::kernels::KernelProfile;
using cost::kernels::Key;
using report::Align;

constexpr std::size_t wide = 118;

// GPU profiles by name, each read once.
class Gpus {
 public:
  const hardware::Gpu* find(const std::string& name) {
    if (const auto at = read_.find(name); at != read_.end()) return at->second.get();
    const auto text = scenario::find(scenario::Kind::Gpu, name);
    if (!text) return nullptr;
    auto gpu = config::read<hardware::Gpu>(config::Document::from_text(*text, name));
    return read_.emplace(name, std::make_unique<hardware::Gpu>(std::move(gpu))).first->second.get();
  }

 private:
  std::map<std::string, std::unique_ptr<hardware::Gpu>> read_;
};

std::string percent(double share) { return fmt::format("{:.1f}", 100 * share); }

std::string key_text(const Key& k) {
  std::string out(names_of(k.family)[static_cast<std::size_t>(k.family)]);
  out += fmt::format(" {}", names_of(k.type)[static_cast<std::size_t>(k.type)]);
  if (k.kv != cost::kernels::DataType::Bf16)
    out += fmt::format(" kv {}", names_of(k.kv)[static_cast<std::size_t>(k.kv)]);
  if (!k.variant.empty()) out += " " + k.variant;
  return k.kernel.empty() ? out : out + " " + k.kernel;
}

Dataset read_tables(const std::vector<std::string>& files, const CalibrateOptions& o, bool keep_flagged, Gpus& gpus) {
  core::Problems problems;
  Dataset data = calibrate::read_dataset(
      files, {o.gpu, o.stack, keep_flagged}, [&gpus](const std::string& name) { return gpus.find(name); }, problems);
  problems.raise_if_any();
  for (const std::string& line : data.warnings) warn("warning: " + line);
  return data;
}

std::string sources_text(const std::vector<cost::kernels::Source>& sources) {
  report::Table table({{"table", Align::Left, 20}, {"rows"}, {"used"}, {"left out", Align::Left}});
  for (const auto& s : sources) {
    std::string dropped;
    for (const auto& d : s.dropped) dropped += fmt::format("{}{} {}", dropped.empty() ? "" : "; ", d.rows, d.reason);
    table.row({s.file, core::count_text(s.rows), core::count_text(s.used), dropped});
  }
  return table.text(2, wide);
}

std::string fits_text(const KernelProfile& p) {
  report::Table table(
      {{"fit", Align::Left, 30}, {"rows"}, {"median %"}, {"p90 %"}, {"held out %"}, {"p90 %"}, {"numbers"}});
  for (const auto& f : p.fits) {
    std::size_t numbers = f.physics.size() * info(f.key.family).parameters.size();
    for (const auto& s : f.surfaces) numbers += s.residuals.size();
    const bool validated = f.cross_validated.rows > 0;
    table.row({key_text(f.key), core::count_text(f.rows), percent(f.in_sample.median), percent(f.in_sample.p90),
               validated ? percent(f.cross_validated.median) : "-", validated ? percent(f.cross_validated.p90) : "-",
               std::to_string(numbers)});
  }
  return table.text(2, wide);
}

// Quantities of the machine at their largest size, beside what the GPU's profile says where it says anything.
std::string machine_text(const Dataset& data, const hardware::Gpu& gpu) {
  std::map<std::pair<std::string, double>, const calibrate::MachineRow*> largest;
  for (const auto& r : data.machine) {
    const auto [at, fresh] = largest.try_emplace({r.quantity, r.detail}, &r);
    if (!fresh && r.bytes > at->second->bytes) at->second = &r;
  }
  report::Table table(
      {{"quantity of the machine", Align::Left}, {"detail"}, {"bytes"}, {"value"}, {"unit", Align::Left}, {"profile"}});
  for (const auto& [name, r] : largest) {
    const bool memory = r->quantity.starts_with("hbm_") && r->unit == "GB/s";
    table.row({r->quantity, fmt::format("{}", r->detail), core::count_text(static_cast<std::int64_t>(r->bytes)),
               fmt::format("{:.4g}", r->value), r->unit, memory ? fmt::format("{:.0f}", gpu.memory_tb_s * 1e3) : "-"});
  }
  return table.text(2, wide);
}

std::string slow_tactics_text(const KernelProfile& p) {
  std::string out;
  for (const auto& f : p.fits) {
    if (f.slow_curves.empty()) continue;
    out += fmt::format("\n{}: curves on a slow tactic (median of measured / predicted)", key_text(f.key));
    if (f.sound_tactics.rows > 0)
      out += fmt::format("; held out without them {} / {} %", percent(f.sound_tactics.median),
                         percent(f.sound_tactics.p90));
    out += "\n";
    for (const std::string& line : f.slow_curves) out += "  " + line + "\n";
  }
  return out;
}

// Built-in profile of a measured stack ("vllm-0.19.0") on a GPU; communication tables take any profile of the GPU.
std::optional<KernelProfile> built_in(const std::string& stack, const std::string& gpu) {
  std::optional<KernelProfile> any;
  for (const auto& name : scenario::kernel_profiles()) {
    if (name.gpu != gpu) continue;
    auto profile = scenario::kernel_profile(name.stack, name.gpu);
    if (profile->stack == stack || name.stack == stack) return profile;
    if (!any && stack.starts_with("nccl")) any = std::move(profile);
  }
  return any;
}

KernelProfile profile_for(const CalibrateOptions& o, const Dataset& data, const std::string& stack) {
  if (!o.profile.empty()) return config::read<KernelProfile>(config::Document::load(o.profile));
  if (auto found = built_in(stack, data.gpu)) return std::move(*found);
  throw core::InputError("calibrate score",
                         fmt::format("no built-in kernel profile of {} on {}; give --profile FILE", stack, data.gpu));
}

const FittedKernel* find(const std::vector<FittedKernel>& kernels, const Key& key) {
  const auto at = std::find_if(kernels.begin(), kernels.end(), [&key](const FittedKernel& k) {
    Key own = k.key();
    if (own.family == cost::kernels::Family::Prefill) own.variant = key.variant;
    return own == key;
  });
  return at == kernels.end() ? nullptr : &*at;
}

std::vector<ScoreLine> score_profile(const KernelProfile& profile, const Dataset& data, const hardware::Gpu& gpu) {
  std::vector<FittedKernel> kernels;
  for (const auto& f : profile.fits) kernels.emplace_back(f, cost::kernels::machine(gpu));
  std::vector<ScoreLine> out;
  for (const KeyRows& k : data.keys) {
    const FittedKernel* kernel = find(kernels, k.key);
    if (kernel == nullptr) {
      warn(fmt::format("warning: {}: the profile has no such fit; {} not scored", key_text(k.key),
                       core::counted(static_cast<std::int64_t>(k.rows.size()), "row")));
      continue;
    }
    std::vector<double> predicted;
    std::vector<char> inside;
    for (const auto& r : k.rows) predicted.push_back(kernel->us(r.x, false)), inside.push_back(kernel->inside(r.x));
    for (auto& line : calibrate::score_lines(k, predicted, inside)) out.push_back(std::move(line));
  }
  return out;
}

std::vector<ScoreLine> score_held_out(const Dataset& data, const hardware::Gpu& gpu) {
  std::vector<ScoreLine> out;
  for (const KeyRows& k : data.keys) {
    if (k.rows.size() < calibrate::min_rows) continue;
    const auto predicted = calibrate::cross_validate(k, cost::kernels::machine(gpu));
    const std::vector<char> inside(predicted.size(), 1);
    for (auto& line : calibrate::score_lines(k, predicted, inside)) out.push_back(std::move(line));
  }
  return out;
}

// Curves: against the profile's curves, or with every other size left out.
void score_curves(const Dataset& data, const KernelProfile* profile, const hardware::Gpu& gpu, report::Table& table) {
  if (data.curves.empty()) return;
  if (profile == nullptr) {
    const auto score = calibrate::leave_out_score(data.curves);
    table.row(
        {"curves, every other size", "", core::count_text(score.rows), percent(score.median), percent(score.p90), ""});
    return;
  }
  const cost::kernels::Kernels kernels(*profile, gpu);
  std::map<std::string, std::vector<double>> errors;
  for (const auto& c : data.curves)
    for (std::size_t i = 0; i < c.bytes.size(); ++i)
      if (const auto t = kernels.curve(c.op, c.mode, c.bytes[i], c.ranks))
        errors[fmt::format("{} {} {} GPUs", c.op, c.mode, c.ranks)].push_back(std::abs(t->seconds * 1e6 / c.us[i] - 1));
  for (auto& [name, values] : errors) {
    const auto score = calibrate::score_of(std::move(values));
    table.row({name, "", core::count_text(score.rows), percent(score.median), percent(score.p90), ""});
  }
}

void write_json(config::JsonWriter& out, const std::string& file, const Dataset& data,
                const std::vector<ScoreLine>& lines) {
  for (const ScoreLine& l : lines) {
    out.begin_object();
    out.value("file", file), out.value("gpu", data.gpu), out.value("stack", data.stack);
    out.value("family", names_of(l.key.family)[static_cast<std::size_t>(l.key.family)]);
    out.value("type", names_of(l.key.type)[static_cast<std::size_t>(l.key.type)]);
    out.value("kv", names_of(l.key.kv)[static_cast<std::size_t>(l.key.kv)]);
    out.value("variant", l.key.variant), out.value("kernel", l.key.kernel);
    out.value("size", l.size), out.value("in_grid", l.inside);
    out.value("rows", l.score.rows), out.value("median", l.score.median), out.value("p90", l.score.p90);
    out.value("bias", l.bias);
    out.end_object();
  }
}

}  // namespace

int calibrate_fit(const CalibrateOptions& o) {
  Gpus gpus;
  const Dataset data = read_tables(o.files, o, false, gpus);
  std::vector<std::string> warnings;
  const KernelProfile profile =
      calibrate::fit_profile(data, *gpus.find(data.gpu), {!o.quick, o.monotone, o.note}, warnings);
  for (const std::string& line : warnings) warn("warning: " + line);
  if (profile.fits.empty() && profile.curves.empty()) {
    if (!data.machine.empty()) print(machine_text(data, *gpus.find(data.gpu)));
    warn("nothing was fitted and nothing written: no family has enough usable rows");
    return exit_no_data;
  }
  const std::filesystem::path folder = std::filesystem::path(o.out) / "kernels";
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw core::Error(fmt::format("cannot make {}: {}", folder.string(), error.message()));
  const std::string path = (folder / (data.gpu + ".json")).string();
  const std::string text = calibrate::profile_text(profile);
  config::read<KernelProfile>(config::Document::from_text(text, path));  // what no run could read is not written
  const std::exception_ptr unsaved = saved([&] { write_file(path, text); });
  print(sources_text(profile.sources) + "\n" + fits_text(profile) + slow_tactics_text(profile));
  if (!data.machine.empty()) print("\n" + machine_text(data, *gpus.find(data.gpu)));
  if (unsaved) std::rethrow_exception(unsaved);
  print("\nwritten to " + path + "\n");
  return exit_done;
}

int calibrate_score(const CalibrateOptions& o) {
  Gpus gpus;
  report::Table table({{"fit", Align::Left, 30}, {"size", Align::Left}, {"rows"}, {"median %"}, {"p90 %"}, {"bias %"}});
  config::JsonWriter json;
  json.begin_array();
  for (const std::string& file : o.files) {
    const Dataset data = read_tables({file}, o, false, gpus);
    const hardware::Gpu& gpu = *gpus.find(data.gpu);
    std::optional<KernelProfile> profile;
    if (!o.cross_validate) profile = profile_for(o, data, calibrate::table_name(file).stack);
    const auto lines = profile ? score_profile(*profile, data, gpu) : score_held_out(data, gpu);
    write_json(json, file, data, lines);
    for (const ScoreLine& l : lines)
      table.row({l.size.empty() ? fmt::format("{} {} {}", data.gpu, data.stack, key_text(l.key)) : "",
                 (l.size.empty() ? "all" : l.size) + (l.inside ? "" : ", extrapolated"), core::count_text(l.score.rows),
                 percent(l.score.median), percent(l.score.p90), percent(l.bias)});
    score_curves(data, profile ? &*profile : nullptr, gpu, table);
  }
  json.end_array();
  print(o.json ? json.text() : table.text(2, wide));
  return exit_done;
}

int calibrate_show(const CalibrateOptions& o) {
  std::vector<calibrate::NamedProfile> shown;
  std::set<std::string> stacks;
  std::set<std::string> on;
  for (const auto& name : scenario::kernel_profiles()) {
    stacks.insert(name.stack);
    on.insert(name.gpu);
    if (!o.gpu.empty() && name.gpu != o.gpu) continue;
    auto profile = scenario::kernel_profile(name.stack, name.gpu);
    if (!o.stack.empty() && name.stack != o.stack && profile->stack != o.stack) continue;
    shown.push_back({name.stack, std::move(*profile)});
  }
  if (shown.empty())
    throw core::InputError(
        "calibrate show",
        fmt::format("no kernel profile of stack \"{}\" and GPU \"{}\"; there are stacks {} and GPUs {}", o.stack, o.gpu,
                    fmt::join(stacks, ", "), fmt::join(on, ", ")));
  if (o.markdown) print(calibrate::profiles_markdown(shown));
  for (std::size_t i = 0; i < shown.size() && !o.markdown; ++i) {
    const KernelProfile& p = shown[i].profile;
    print(fmt::format("{}{} on {} (measured: {})\n\n{}\n{}\n", i > 0 ? "\n" : "", shown[i].stack, p.gpu, p.stack,
                      fits_text(p), sources_text(p.sources)));
  }
  return exit_done;
}

}  // namespace servecast::cli
