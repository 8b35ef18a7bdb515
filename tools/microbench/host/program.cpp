#include "microbench/host/program.hpp"

#include "core/error.hpp"
#include "microbench/host/options.hpp"
#include "microbench/host/runner.hpp"
#include "microbench/host/tables.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <ostream>

namespace servecast::microbench {

namespace {

constexpr std::size_t terminal_columns = 100;

std::string list_text(const DeviceInfo* device, bool quick) {
  std::string out;
  for (std::size_t i = 0; i < families().size(); ++i) {
    const FamilyText& f = families()[i];
    const std::string rows =
        device == nullptr ? "-" : std::to_string(points_of(static_cast<FamilyId>(i), *device, quick).size());
    out += fmt::format("{:<9} {:>6}  {}\n", f.name, rows, f.measures);
  }
  return fmt::format("{:<9} {:>6}  {}\n{}", "family", "rows", "measures", out);
}

// The list is worth having without a GPU, but then nobody knows how many rows would fit.
int list(const Options& o, const OpenDevice& open, const Console& console) {
  try {
    console.out << list_text(&open(o.device)->info(), o.quick);
  } catch (const NoDevice& error) {
    console.out << list_text(nullptr, o.quick);
    console.err << "microbench: rows depend on the GPU, and " << error.what() << "\n";
  }
  return exit_done;
}

void show(const Console& console, const Progress& p) {
  const std::string_view family = families()[static_cast<std::size_t>(p.family)].name;
  std::string line = fmt::format("{} {}/{} {}", family, p.done, p.all, p.point);
  if (console.terminal) {
    line.resize(terminal_columns, ' ');
    console.err << '\r' << line << (p.point.empty() ? "\n" : "") << std::flush;
  } else if (p.point.empty()) {
    console.err << line << "\n";
  }
}

int measure(const Options& o, const OpenDevice& open, const Console& console) {
  const std::unique_ptr<Device> device = open(o.device);
  const DeviceInfo& d = device->info();
  console.err << fmt::format("{}: {} SMs, {} GiB free, driver {}, L2 {}\n", d.name, d.sms, d.memory_bytes >> 30,
                             d.driver, o.cold ? "cold" : "warm");
  const Report r = measure_all(*device, o, [&console](const Progress& p) { show(console, p); });
  for (const std::string& line : r.refusals) console.err << "not measured: " << line << "\n";
  for (const std::string& line : r.wrong) console.err << "WRONG RESULT, row not written: " << line << "\n";
  console.err << fmt::format("{} rows measured, {} were there, {} not possible, {} wrong\n", r.measured, r.kept,
                             r.refused, r.wrong.size());
  console.out << fmt::format("{}\n", fmt::join(r.files, "\n"));
  if (!r.wrong.empty()) return exit_wrong;
  console.err << fmt::format("next: servecast calibrate fit {}/*.csv -o hardware_profiles/stacks/{}\n", o.output,
                             o.stack);
  return exit_done;
}

int dispatch(const Options& o, const OpenDevice& open, const Console& console) {
  if (o.help) return console.out << usage(), exit_done;
  return o.list ? list(o, open, console) : measure(o, open, console);
}

}  // namespace

int run_program(const std::vector<std::string>& arguments, const OpenDevice& open, const Console& console) {
  try {
    core::Problems problems;
    const Options options = parse_options(arguments, problems);
    problems.raise_if_any();
    return dispatch(options, open, console);
  } catch (const core::InputError& error) {
    for (const std::string& line : error.lines()) console.err << "microbench: " << line << "\n";
    return exit_usage;
  } catch (const NoDevice& error) {
    console.err << "microbench: " << error.what() << "\n";
    return exit_no_device;
  } catch (const core::LogicError& error) {
    console.err << "microbench: " << error.what() << "; this is a bug of the program\n";
    return exit_bug;
  } catch (const std::exception& error) {
    console.err << "microbench: " << error.what() << "\n";
    return exit_failed;
  }
}

}  // namespace servecast::microbench
