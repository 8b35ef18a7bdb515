#include "cost/explain.hpp"

#include <array>

namespace servecast::cost {
namespace {

constexpr std::string_view datasheet = "datasheet";
constexpr std::string_view constant = "constant";

Resource limit_of(const TimedOperator& x) {
  const OperatorTime& t = x.time;
  const double network = t.latency_s + t.bandwidth_s;
  if (network > 0) return Resource::Network;
  if (t.floor_s > t.roofline_s()) return Resource::Launch;
  if (x.die_link) return Resource::DieLink;
  return t.compute_s > t.memory_s ? Resource::Compute : Resource::Memory;
}

std::string_view name_of(Evidence e) { return hardware::evidence_names[static_cast<std::size_t>(e)]; }

void add(std::vector<ExplainRow>& rows, const std::vector<TimedOperator>& times, double factor) {
  for (const TimedOperator& x : times) {
    const bool collective = x.op->kind == Kind::AllReduce || x.op->kind == Kind::AllGather;
    rows.push_back({full_name(*x.op), x.op->count, factor * x.time.total_s(), 0, limit_of(x), x.time.flops,
                    collective ? x.time.bytes_sent : x.time.bytes, x.from_table ? name_of(x.origin) : datasheet,
                    x.extrapolated});
  }
}

// What StepModel::decode() adds to the whole-context class: states and cross attention.
Rooflines fixed_part(const StepModel& m, const StepShape& s, bool mixed) {
  Rooflines r;
  if (m.attention().fixed.empty()) return r;
  r = m.attention().fixed.at(s.decode_requests, 0);
  r.compute_s *= m.factor(mixed);
  r.memory_s *= m.factor(mixed);
  return r;
}

void take_out(Rooflines& r, const Rooflines& part) {
  r.compute_s -= part.seconds();
  r.memory_s -= part.seconds();
  r.flops -= part.flops;
  r.bytes -= part.bytes;
}

void add_fixed(std::vector<ExplainRow>& rows, const StepModel& m, const StepShape& s, bool mixed) {
  if (m.attention().fixed.empty()) return;
  const Rooflines r = fixed_part(m, s, mixed);
  const bool states = m.input().architecture.state.has_value();
  rows.push_back({states ? "decode states" : "decode attention, cross", 0, r.seconds(), 0,
                  r.compute_s > r.memory_s ? Resource::Compute : Resource::Memory, r.flops, r.bytes, datasheet, false});
}

void add_decode(std::vector<ExplainRow>& rows, const StepModel& m, const StepShape& s, bool mixed) {
  if (s.decode_requests == 0) return;
  constexpr std::array<std::string_view, 2> names = {"decode attention", "decode attention, windowed"};
  for (int c = 0; c < 2; ++c) {
    if (c == 0) add_fixed(rows, m, s, mixed);
    if (m.attention().decode[static_cast<std::size_t>(c)].empty()) continue;
    const std::int64_t context = c == 0 ? s.decode_context : s.decode_context_windowed;
    Rooflines r = m.decode(c, s.decode_requests, static_cast<double>(context), mixed);
    if (c == 0) take_out(r, fixed_part(m, s, mixed));
    rows.push_back({std::string(names[static_cast<std::size_t>(c)]), 0, r.seconds(), 0,
                    r.die_link                 ? Resource::DieLink
                    : r.compute_s > r.memory_s ? Resource::Compute
                                               : Resource::Memory,
                    r.flops, r.bytes, datasheet, false});
    if (m.measured(c).decode.empty()) continue;
    const KernelTime k = m.measured(c).decode.at(s.decode_requests, static_cast<double>(context));
    rows.back().origin = name_of(k.origin);
    rows.back().extrapolated = k.extrapolated;
    rows.back().launches = m.measured(c).layers;
    const double launches_s = m.measured(c).layers * m.input().efficiency.attention_floor_us * 1e-6;
    if (launches_s > rows.back().seconds / 2) rows.back().limit = Resource::Launch;
  }
}

// The weakest origin of the classes and chunks that one row sums up.
void label_prefill(ExplainRow& row, const StepModel& m,
                   const std::vector<std::pair<std::int32_t, std::int32_t>>& chunks) {
  bool sheet = false;
  Evidence weakest = Evidence::Measured;
  for (std::size_t c = 0; c < m.attention().prefill.size(); ++c) {
    if (m.attention().prefill[c].forms.empty()) continue;
    if (c == 2) {
      sheet = true;
      continue;
    }
    const MeasuredPrefill& table = m.measured(static_cast<int>(c)).prefill;
    sheet = sheet || table.empty();
    if (table.empty()) continue;
    for (const auto& [from, to] : chunks) {
      if (table.origin(from) != Evidence::Measured) weakest = table.origin(from);
      row.extrapolated = row.extrapolated || table.extrapolated(to);
    }
  }
  row.origin = sheet ? datasheet : name_of(weakest);
}

void add_prefill(std::vector<ExplainRow>& rows, const StepModel& m,
                 const std::vector<std::pair<std::int32_t, std::int32_t>>& chunks) {
  if (chunks.empty()) return;
  ExplainRow row = {"prefill attention", 0, 0, 0, Resource::Compute, 0, 0, datasheet, false};
  for (const auto& [from, to] : chunks) {
    row.seconds += m.chunk_s(from, to);
    for (const ChunkClass& c : m.attention().prefill) {
      if (c.forms.empty()) continue;
      const ChunkWork w = chunk_work(from, to, c.window, c.size);
      row.flops += c.forms.front().flops.at(w);
      row.bytes += c.forms.front().bytes.at(w);
    }
  }
  label_prefill(row, m, chunks);
  rows.push_back(row);
}

}  // namespace

std::string_view name(Resource r) {
  constexpr std::array<std::string_view, 6> names = {"compute", "memory", "network", "launch", "host", "die link"};
  return names[static_cast<std::size_t>(r)];
}

Explanation explain(const StepModel& model, StepShape shape,
                    const std::vector<std::pair<std::int32_t, std::int32_t>>& chunks) {
  shape.prefill_tokens = 0;
  shape.prefill_requests = static_cast<std::int32_t>(chunks.size());
  shape.prefill_attention = {};
  for (const auto& [from, to] : chunks) {
    shape.prefill_tokens += to - from;
    shape.prefill_attention += core::seconds(model.chunk_s(from, to));
  }
  const bool mixed = shape.prefill_tokens > 0;
  const std::int32_t tokens = shape.decode_requests + shape.prefill_tokens;
  Explanation e;
  e.time = model.step(shape);
  add(e.rows, model.token_times(tokens), model.factor(mixed));
  const double launch = model.factor(mixed) * model.attention_launch_s(mixed);
  if (launch > 0) {
    e.rows.push_back(
        {"attention launches", model.attention_launches(mixed), launch, 0, Resource::Launch, 0, 0, datasheet, false});
  }
  add_decode(e.rows, model, shape, mixed);
  add_prefill(e.rows, model, chunks);
  add(e.rows, model.row_times(shape.sampled_rows), model.factor(mixed));
  double gpu = 0;
  for (const ExplainRow& r : e.rows) gpu += r.seconds;
  const double total = core::to_seconds(e.time.total);
  e.rows.push_back({"host, not hidden", 1, total > gpu ? total - gpu : 0, 0, Resource::Host, 0, 0, constant, false});
  for (ExplainRow& r : e.rows) r.share = total > 0 ? r.seconds / total : 0;
  return e;
}

TimeOrigins origins(const Explanation& e) {
  TimeOrigins o;
  for (const ExplainRow& r : e.rows) {
    double& share = r.origin == "measured"  ? o.measured
                    : r.origin == "derived" ? o.derived
                    : r.origin == constant  ? o.constant
                                            : o.datasheet;
    share += r.share;
    if (r.extrapolated) o.extrapolated += r.share;
  }
  return o;
}

}  // namespace servecast::cost
