// `numerics formats`: number formats on drawn tensors or on the user's own.
#include "cli/output.hpp"
#include "cli/verbs.hpp"
#include "config/closest.hpp"
#include "config/json_text.hpp"
#include "core/error.hpp"
#include "core/units.hpp"
#include "precision/compare_schemes.hpp"
#include "precision/distribution.hpp"
#include "precision/tensor_file.hpp"
#include "report/figures.hpp"
#include "report/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace servecast::cli {

namespace {

using precision::Distribution;

constexpr std::int64_t drawn_columns = 4096;
constexpr std::int64_t drawn_elements = std::int64_t{1} << 20;
constexpr std::string_view usual[] = {"gaussian", "laplace", "student-t:5"};
// Assumed, to show the effect: a few channels that are some ten times larger, as inputs of transformer layers have
// them.
constexpr double usual_outlier_share = 0.01;
constexpr double usual_outlier_factor = 20;

struct Drawn {
  std::string name;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  precision::SchemeComparison comparison;
};

template <typename Number>
std::optional<Number> number(std::string_view text) {
  Number n{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return n;
}

void add_outliers(const std::string& text, Distribution& d, core::Problems& problems) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  const std::string_view all = text;
  const double share = number<double>(all.substr(0, colon)).value_or(0);
  const double factor = number<double>(all.substr(std::min(all.size(), colon + 1))).value_or(0);
  if (!(share > 0 && share < 1) || !(factor > 1 && factor <= precision::most_outlier_factor)) {
    problems.add("--outliers",
                 "\"{}\" is not SHARE:FACTOR with a share in (0, 1) and a factor in (1, 1e6], e.g. 0.01:20", text);
    return;
  }
  d.outlier_share = share;
  d.outlier_factor = factor;
}

std::vector<Distribution> distributions_of(const NumericsOptions& o, core::Problems& problems) {
  std::vector<Distribution> out;
  const bool given = !o.distributions.empty();
  for (const std::string& name :
       given ? o.distributions : std::vector<std::string>(std::begin(usual), std::end(usual))) {
    auto d = precision::parse_distribution(name);
    if (!d) {
      problems.add(
          "--distribution",
          "unknown distribution \"{}\"; known: gaussian, laplace, student-t, student-t:NU with NU in [1, 1000]", name);
      continue;
    }
    out.push_back(*d);
  }
  if (o.outliers.empty() && !given)
    out.push_back({precision::Law::Gaussian, 5, usual_outlier_share, usual_outlier_factor});
  if (o.outliers.empty()) return out;
  Distribution loud;
  add_outliers(o.outliers, loud, problems);
  for (Distribution& d : out) {
    d.outlier_share = loud.outlier_share;
    d.outlier_factor = loud.outlier_factor;
  }
  return out;
}

std::vector<precision::Scheme> schemes_of(const NumericsOptions& o, core::Problems& problems) {
  const auto all = precision::schemes();
  if (o.formats.empty()) return {all.begin(), all.end()};
  std::vector<std::string_view> names;
  for (const precision::Scheme& s : all) names.push_back(s.name);
  std::vector<precision::Scheme> out;
  for (const std::string& name : o.formats) {
    if (const auto found = precision::find_scheme(name))
      out.push_back(*found);
    else
      problems.add("--format", "unknown format \"{}\"{}", name,
                   config::hint(name, std::span<const std::string_view>(names)));
  }
  return out;
}

void check_file_options(const NumericsOptions& o, core::Problems& problems) {
  const bool npy = o.file.ends_with(".npy");
  const auto useless = [&](bool given, const char* flag, const char* why) {
    if (given) problems.add(flag, "has no meaning {}; leave it out", why);
  };
  if (o.file.empty()) {
    useless(!o.dtype.empty(), "--dtype", "without --file");
    useless(!o.shape.empty(), "--shape", "without --file");
    return;
  }
  useless(!o.distributions.empty(), "--distribution", "with --file");
  useless(!o.outliers.empty(), "--outliers", "with --file");
  useless(o.elements.has_value(), "--elements", "with --file");
  useless(npy && !o.dtype.empty(), "--dtype", "for a .npy file, which states its own");
  useless(npy && !o.shape.empty(), "--shape", "for a .npy file, which states its own");
  if (!npy && o.dtype.empty()) problems.add("--dtype", "a raw file needs it: float32, bfloat16 or float16");
  if (!npy && o.shape.empty()) problems.add("--shape", "a raw file needs it, e.g. 128,4096");
}

precision::RawLayout raw_layout(const NumericsOptions& o) {
  core::Problems problems;
  precision::RawLayout layout;
  constexpr std::string_view types[] = {"float32", "bfloat16", "float16"};
  const auto* const type = std::find(std::begin(types), std::end(types), o.dtype);
  if (type == std::end(types))
    problems.add("--dtype", "unknown type \"{}\"{}", o.dtype, config::hint(o.dtype, types));
  else
    layout.type = static_cast<precision::FileType>(type - std::begin(types));
  std::string_view left = o.shape;
  while (true) {
    const std::size_t comma = left.find(',');
    const auto n = number<std::int64_t>(left.substr(0, comma));
    if (!n || *n <= 0) {
      problems.add("--shape", "\"{}\" is no list of positive whole numbers, e.g. 128,4096", o.shape);
      break;
    }
    layout.shape.push_back(*n);
    if (comma == std::string_view::npos) break;
    left.remove_prefix(comma + 1);
  }
  problems.raise_if_any();
  return layout;
}

Drawn from_file(const NumericsOptions& o, std::span<const precision::Scheme> schemes) {
  const precision::Tensor t =
      o.file.ends_with(".npy") ? precision::read_npy(o.file) : precision::read_raw(o.file, raw_layout(o));
  Drawn d{o.file, t.rows(), t.columns(), {}};
  if (std::none_of(t.values.begin(), t.values.end(), [](float x) { return std::isfinite(x); }))
    throw core::InputError(o.file, "no value is finite; there is nothing to compare");
  d.comparison = precision::compare_schemes({t.values, d.rows, d.columns}, schemes, o.seed);
  return d;
}

Drawn from(const Distribution& distribution, const NumericsOptions& o, std::span<const precision::Scheme> schemes) {
  const std::int64_t elements = o.elements.value_or(drawn_elements);
  const std::int64_t columns = std::min(drawn_columns, elements);
  Drawn d{precision::text(distribution), elements / columns, columns, {}};
  const std::vector<float> values = precision::draw(distribution, d.rows, columns, o.seed, "tensor");
  d.comparison = precision::compare_schemes({values, d.rows, columns}, schemes, o.seed);
  return d;
}

std::string fixed(std::optional<double> value, int digits, std::string_view absent) {
  return value ? fmt::format("{:.{}f}", *value, digits) : std::string(absent);
}

std::string table_of(const Drawn& d) {
  const precision::RangeStatistics& s = d.comparison.statistics;
  std::string out = fmt::format("{}: {} x {}, largest {} times the rms, kurtosis {}\n", report::printable(d.name),
                                core::count_text(d.rows), core::count_text(d.columns),
                                report::figure(s.rms > 0 ? s.amax / s.rms : 0), report::figure(s.kurtosis));
  if (s.infinite > 0)
    out += fmt::format("  {} values are infinite or NaN and not counted\n", core::count_text(s.infinite));
  report::Table table({{"format", report::Align::Left, 12},
                       {"bits"},
                       {"SQNR dB"},
                       {"column dB"},
                       {"max error"},
                       {"flushed"},
                       {"cosine"}});
  bool lost = false;
  for (const precision::SchemeResult& r : d.comparison.results) {
    const std::string_view none = r.error.compared > 0 ? "exact" : "-";
    table.row({std::string(r.scheme.name), fmt::format("{:.3f}", r.bits), fixed(r.error.sqnr_db, 2, none),
               fixed(r.error.column_sqnr_db, 2, none), report::figure(r.error.max_error),
               report::percent(r.error.flushed), fixed(r.cosine, 6, "-")});
    lost = lost || r.error.lost > 0;
  }
  out += "\n" + table.text();
  for (const precision::SchemeResult& r : d.comparison.results)
    if (r.error.lost > 0)
      out += fmt::format("{}  {}: {} of the values became infinite or NaN\n",
                         &r == &d.comparison.results[0] ? "\n" : "", r.scheme.name, report::percent(r.error.lost));
  return out;
}

void optional(config::JsonWriter& out, std::string_view key, std::optional<double> value) {
  if (value)
    out.value(key, *value);
  else
    out.null(key);
}

void write(config::JsonWriter& out, const Drawn& d) {
  out.begin_object();
  out.value("name", d.name);
  out.value("rows", d.rows);
  out.value("columns", d.columns);
  out.value("rms", d.comparison.statistics.rms);
  out.value("amax", d.comparison.statistics.amax);
  out.value("kurtosis", d.comparison.statistics.kurtosis);
  out.value("not_finite", d.comparison.statistics.infinite);
  out.begin_array("formats");
  for (const precision::SchemeResult& r : d.comparison.results) {
    out.begin_object();
    out.value("format", r.scheme.name);
    out.value("bits_per_element", r.bits);
    optional(out, "sqnr_db", r.error.sqnr_db);
    optional(out, "column_sqnr_db", r.error.column_sqnr_db);
    out.value("max_error_over_rms", r.error.max_error);
    out.value("flushed_share", r.error.flushed);
    out.value("lost_share", r.error.lost);
    out.value("compared_values", r.error.compared);
    optional(out, "product_cosine", r.cosine);
    out.end_object();
  }
  out.end_array();
  out.end_object();
}

std::string json_of(const std::vector<Drawn>& all, std::uint32_t seed) {
  config::JsonWriter out;
  out.begin_object();
  out.value("seed", seed);
  out.begin_array("tensors");
  for (const Drawn& d : all) write(out, d);
  out.end_array();
  out.end_object();
  return out.text();
}

constexpr std::string_view legend =
    "\nSQNR: 10 log10 of signal over quantisation noise; column dB: the same with every\n"
    "column counting alike; max error: over the rms; flushed: values that became zero;\n"
    "cosine: of the matrix times a Gaussian vector, both quantised, and exact\n";

}  // namespace

int numerics_formats(const NumericsOptions& options) {
  core::Problems problems;
  check_file_options(options, problems);
  const std::vector<precision::Scheme> schemes = schemes_of(options, problems);
  std::vector<Distribution> distributions;
  if (options.file.empty()) distributions = distributions_of(options, problems);
  problems.raise_if_any();
  std::vector<Drawn> all;
  if (!options.file.empty()) all.push_back(from_file(options, schemes));
  for (const Distribution& d : distributions) all.push_back(from(d, options, schemes));
  if (options.json) {
    print(json_of(all, options.seed));
    return exit_done;
  }
  std::string text;
  for (const Drawn& d : all) text += (text.empty() ? "" : "\n") + table_of(d);
  print(text + std::string(legend));
  return exit_done;
}

}  // namespace servecast::cli
