#include "cli/explain_dies.hpp"

#include "report/figures.hpp"
#include "report/table.hpp"

#include <fmt/format.h>

namespace servecast::cli {

namespace {

std::string power_text(const cost::StepModel& model, const cost::StepTime& time) {
  const cost::Power& power = model.power();
  if (!power.known()) return "";
  const double step_s = core::to_seconds(time.total);
  const double watts =
      power.facts().loaded_idle_w + (step_s > 0 ? static_cast<double>(time.energy_uj) * 1e-6 / step_s : 0);
  return fmt::format("  {} W mean over the step, {} J; the board settles at {} W at most\n", report::figure(watts),
                     report::figure(watts * step_s), report::figure(power.facts().loaded_idle_w + power.most_w()));
}

}  // namespace

std::string dies_text(const cost::StepModel& model, const cost::StepTime& time, const std::vector<cost::DieRow>& rows) {
  if (rows.empty()) return "\n  no traffic between dies: the device has one\n" + power_text(model, time);
  report::Table table({{"between dies", report::Align::Left, 17},
                       {"us"},
                       {"HBM MB"},
                       {"L2 MB"},
                       {"MB/way"},
                       {"cross us"},
                       {"room"},
                       {"limit", report::Align::Left}});
  for (const cost::DieRow& r : rows)
    table.row({r.name, report::figure(r.seconds * 1e6), report::figure(r.hbm_bytes / 1e6),
               report::figure(r.l2_bytes / 1e6), report::figure(r.crossing_bytes / 1e6),
               report::figure(r.crossing_s * 1e6), report::percent(r.headroom), std::string(r.limit)});
  return fmt::format("\n{}{}", table.text(), power_text(model, time));
}

void write_dies(config::JsonWriter& out, const std::vector<cost::DieRow>& rows) {
  out.begin_array("dies");
  for (const cost::DieRow& r : rows) {
    out.begin_object();
    out.value("name", r.name);
    out.value("us", r.seconds * 1e6);
    out.value("hbm_bytes", r.hbm_bytes);
    out.value("l2_bytes", r.l2_bytes);
    out.value("crossing_bytes_per_direction", r.crossing_bytes);
    out.value("crossing_us", r.crossing_s * 1e6);
    out.value("headroom", r.headroom);
    out.value("limit", r.limit);
    out.end_object();
  }
  out.end_array();
}

}  // namespace servecast::cli
