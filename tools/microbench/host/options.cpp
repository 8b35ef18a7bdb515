#include "microbench/host/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

namespace servecast::microbench {

namespace {

void read_number(std::string_view option, const std::string& text, std::int32_t low, std::int32_t high,
                 std::int32_t& out, core::Problems& problems) {
  std::int32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < low || value > high)
    return problems.add(std::string(option), "\"{}\" is no whole number from {} to {}", text, low, high);
  out = value;
}

void read_only(const std::string& text, std::vector<FamilyId>& out, core::Problems& problems) {
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t comma = std::min(text.find(',', from), text.size());
    const std::string name = text.substr(from, comma - from);
    from = comma + 1;
    const auto known = families();
    const auto at = std::find_if(known.begin(), known.end(), [&name](const FamilyText& f) { return f.name == name; });
    if (at == known.end())
      problems.add("--only", "\"{}\" is no family; see --list", name);
    else
      out.push_back(static_cast<FamilyId>(at - known.begin()));
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
}

// Part of file names: what table_name() of the calibration takes apart again.
void read_name(std::string_view option, const std::string& text, std::string& out, core::Problems& problems) {
  const bool sound = !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
  });
  if (!sound)
    return problems.add(std::string(option), "\"{}\" must be lower-case letters, digits, dots and dashes", text);
  out = text;
}

void read_l2(const std::string& text, bool& cold, core::Problems& problems) {
  if (text != "warm" && text != "cold") return problems.add("--l2", "\"{}\" is neither warm nor cold", text);
  cold = text == "cold";
}

bool flag(const std::string& name, Options& o) {
  if (name == "--help" || name == "-h") return o.help = true;
  if (name == "--list") return o.list = true;
  if (name == "--quick") return o.quick = true;
  return false;
}

bool valued(const std::string& name, const std::string& value, Options& o, core::Problems& problems) {
  if (name == "--only") return read_only(value, o.only, problems), true;
  if (name == "--gpu") return read_name(name, value, o.gpu, problems), true;
  if (name == "--stack") return read_name(name, value, o.stack, problems), true;
  if (name == "--device") return read_number(name, value, 0, 1023, o.device, problems), true;
  if (name == "--repeats") return read_number(name, value, 1, 999, o.repeats, problems), true;
  if (name == "--l2") return read_l2(value, o.cold, problems), true;
  if (name != "--output") return false;
  if (value.empty()) problems.add("--output", "name a folder");
  o.output = value;
  return true;
}

bool takes_value(const std::string& name) {
  constexpr std::string_view names[] = {"--only", "--gpu", "--stack", "--device", "--repeats", "--l2", "--output"};
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

}  // namespace

Options parse_options(const std::vector<std::string>& arguments, core::Problems& problems) {
  Options o;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& a = arguments[i];
    const std::size_t equals = a.starts_with("--") ? a.find('=') : std::string::npos;
    const std::string name = a.substr(0, equals);
    if (equals == std::string::npos && flag(name, o)) continue;
    if (!takes_value(name)) {
      problems.add(a, "unknown option; see --help");
    } else if (equals != std::string::npos) {
      valued(name, a.substr(equals + 1), o, problems);
    } else if (i + 1 == arguments.size() || arguments[i + 1].starts_with("--")) {
      problems.add(name, "needs a value");
    } else {
      valued(name, arguments[++i], o, problems);
    }
  }
  return o;
}

std::string usage() {
  return "usage: microbench [--only FAMILY,...] [--quick] [--output DIR] [--device N] [--l2 warm|cold] [--repeats N]\n"
         "                  [--gpu NAME] [--stack NAME]\n"
         "       microbench --list\n\n"
         "Measures this GPU and writes operator tables that servecast calibrates from:\n\n"
         "  microbench --output DIR\n"
         "  servecast calibrate fit DIR/*.csv -o hardware_profiles/stacks/NAME\n\n"
         "  --list       families, and how many rows each measures\n"
         "  --only       these families alone, comma-separated\n"
         "  --quick      coarse grids: minutes instead of hours\n"
         "  --output     folder of the tables (microbench); rows that are there are not measured again\n"
         "  --device     number of the GPU (0)\n"
         "  --l2         warm (default): the L2 cache keeps what the last repeat left; cold: it is overwritten before "
         "each\n"
         "  --repeats    samples of each row, of which the median counts (9)\n"
         "  --gpu        name of the GPU's profile, if the device's own name does not tell\n"
         "  --stack      name of the tables' stack (microbench-1)\n\n"
         "Exit codes: 0 done, 1 a file or the device failed, 2 usage, 4 a kernel's result was wrong, 5 no GPU.\n";
}

}  // namespace servecast::microbench
