#include "calibrate/dataset.hpp"

#include "calibrate/curves.hpp"
#include "calibrate/flags.hpp"
#include "calibrate/operator_rows.hpp"
#include "calibrate/plausible.hpp"
#include "core/sha256.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace servecast::calibrate {

namespace {

using cost::kernels::Family;
using cost::kernels::Source;

KeyRows& rows_of(Dataset& d, const Key& key) {
  const auto at = std::find_if(d.keys.begin(), d.keys.end(), [&key](const KeyRows& k) { return k.key == key; });
  if (at != d.keys.end()) return *at;
  d.keys.push_back({key, {}, {}});
  return d.keys.back();
}

void add(Dataset& d, const Measured& m) {
  KeyRows& to = rows_of(d, m.key);
  to.rows.push_back(m.row);
  if (m.key.family == Family::Moe) to.curves.try_emplace(m.row.curve, m.curve);
}

void drop(Source& s, const std::string& reason, std::int64_t rows = 1) {
  if (rows == 0) return;
  const auto at = std::find_if(s.dropped.begin(), s.dropped.end(), [&](const auto& d) { return d.reason == reason; });
  if (at == s.dropped.end())
    s.dropped.push_back({reason, rows});
  else
    at->rows += rows;
}

// Rows with equal features become one with their mean time.
void average_duplicates(std::vector<Observation>& rows) {
  std::stable_sort(rows.begin(), rows.end(), [](const Observation& a, const Observation& b) { return a.x < b.x; });
  std::size_t out = 0;
  for (std::size_t i = 0; i < rows.size();) {
    Observation mean = rows[i];
    std::size_t n = 1;
    while (i + n < rows.size() && rows[i + n].x == mean.x) mean.us += rows[i + n++].us;
    mean.us /= static_cast<double>(n);
    rows[out++] = mean;
    i += n;
  }
  rows.resize(out);
}

// Windowed prefill rows share the fit of the plain ones, which then has a surface for them.
void name_prefill_variants(Dataset& d) {
  for (KeyRows& k : d.keys)
    if (k.key.family == Family::Prefill &&
        std::any_of(k.rows.begin(), k.rows.end(), [](const Observation& r) { return r.x[5] > 0; }))
      k.key.variant = "windowed";
}

bool is_communication(const TableName& name) {
  return name.stack.starts_with("nccl") || name.table.find("deepep") != std::string::npos;
}

struct Reading {
  Dataset& data;
  const DatasetOptions& options;
  const TableName& name;
  const hardware::Gpu& gpu;
  Source& source;
};

void read_kernels(OperatorTable& t, Schema schema, const Reading& in) {
  RowReader reader(schema, in.name.table);
  const auto machine = cost::kernels::machine(in.gpu);
  std::vector<Measured> measured;
  while (t.next()) {
    ++in.source.rows;
    measured.clear();
    std::string reason = reader.read(t, measured);
    bool used = false;
    for (const Measured& m : measured) {
      std::string why = in.options.keep_flagged ? "" : flagged(in.name, m.key, m.row);
      if (why.empty()) why = implausible(m.key, m.row, machine);
      if (why.empty())
        add(in.data, m), used = true;
      else if (reason.empty())
        reason = why;
    }
    if (used)
      ++in.source.used;
    else
      drop(in.source, reason);
  }
}

void read_curves(OperatorTable& t, Schema schema, const Reading& in) {
  CurveBuilder builder;
  while (t.next()) {
    ++in.source.rows;
    CurvePoint point;
    const std::string reason = read_curve_point(schema, t, point);
    if (!reason.empty())
      drop(in.source, reason);
    else
      builder.add(point), ++in.source.used;
  }
  for (auto& curve : builder.finish()) in.data.curves.push_back(std::move(curve));
  const std::int64_t alone = builder.alone();
  in.source.used -= alone;
  drop(in.source, "a curve of one size", alone);
}

constexpr std::string_view machine_reason = "of the machine, not of a kernel: shown, not fitted";

void read_machine_rows(OperatorTable& t, const Reading& in) {
  while (t.next()) {
    ++in.source.rows;
    MachineRow row;
    const std::string reason = read_machine(t, row);
    drop(in.source, reason.empty() ? std::string(machine_reason) : reason);
    if (reason.empty()) in.data.machine.push_back(std::move(row));
  }
}

void read_table(Dataset& d, const std::string& path, const DatasetOptions& options, const FindGpu& find_gpu,
                core::Problems& problems) {
  TableName name = table_name(path);
  if (!options.gpu.empty()) name.gpu = options.gpu;
  if (!options.stack.empty()) name.stack = options.stack;
  if (name.gpu.empty())
    return problems.add(path,
                        "the name does not say which GPU; call it GPU__STACK__TABLE.csv or give --gpu and --stack");
  if (d.gpu.empty()) d.gpu = name.gpu;
  if (d.gpu != name.gpu)
    return problems.add(path, "measured on {}, the files before it on {}; fit one GPU at a time", name.gpu, d.gpu);
  const hardware::Gpu* gpu = find_gpu(name.gpu);
  if (gpu == nullptr)
    return problems.add(path, "unknown GPU \"{}\"; name one of `servecast list hardware`, or give --gpu", name.gpu);
  if (!is_communication(name)) {
    if (d.stack.empty()) d.stack = name.stack;
    if (d.stack != name.stack)
      d.warnings.push_back(
          fmt::format("{}: measured with {}, the files before it with {}, which the profile is named "
                      "after; fit one version at a time, or give --stack",
                      path, name.stack, d.stack));
  }
  OperatorTable t(path);
  const std::optional<Schema> schema = schema_of(t);
  if (!schema)
    return problems.add(path, "no operator table has these columns; docs/models/kernels.md lists the tables");
  Source source;
  source.file = path.substr(path.rfind('/') + 1);
  source.sha256 = core::sha256_of_file(path);
  const Reading reading{d, options, name, *gpu, source};
  if (*schema == Schema::AllReduce || *schema == Schema::Nccl)
    read_curves(t, *schema, reading);
  else if (*schema == Schema::Machine)
    read_machine_rows(t, reading);
  else
    read_kernels(t, *schema, reading);
  for (const std::string& column : t.unused())
    d.warnings.push_back(fmt::format("{}: column {} is not known and was passed over", path, column));
  if (source.rows == 0)
    problems.add(path, "a header and no rows");
  else if (source.used == 0 && *schema != Schema::Machine)
    d.warnings.push_back(fmt::format("{}: no usable row; {}", path, source.dropped.front().reason));
  d.sources.push_back(std::move(source));
}

}  // namespace

Dataset read_dataset(const std::vector<std::string>& paths, const DatasetOptions& options, const FindGpu& find_gpu,
                     core::Problems& problems) {
  Dataset d;
  for (const std::string& path : paths) {
    try {
      read_table(d, path, options, find_gpu, problems);
    } catch (const core::InputError& error) {
      for (const std::string& line : error.lines()) problems.add("", line);
    }
  }
  if (d.stack.empty()) d.stack = options.stack;
  name_prefill_variants(d);
  for (KeyRows& k : d.keys) average_duplicates(k.rows);
  return d;
}

}  // namespace servecast::calibrate
