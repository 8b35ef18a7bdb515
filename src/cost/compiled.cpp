#include "cost/compiled.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace servecast::cost {
namespace {

__extension__ using Wide = __int128;

std::int64_t picoseconds(double s) { return core::seconds(s).ps; }

// 2^-14 of a factor of at most 10 leaves room for attention of a minute.
constexpr int factor_bits = 14;

// Returns the time that it adds.
std::int64_t add_attention(const Lines& l, std::int64_t factor, StepTime& out) {
  const bool arithmetic = l.compute_ps >= l.memory_ps;
  const std::int64_t slower = arithmetic ? l.compute_ps : l.memory_ps;
  const std::int64_t ps = slower * factor >> factor_bits;
  out.compute.ps += arithmetic ? ps : 0;
  out.memory.ps += arithmetic ? 0 : ps;
  return ps;
}

}  // namespace

// Parts are rounded once; the total is rounded as a whole and the largest part carries the difference, so that rounding
// cannot make a larger step shorter.
CompiledCost::Row CompiledCost::rounded(const Parts& p, double joules) {
  Row r;
  r.compute = picoseconds(p.compute_s);
  r.memory = picoseconds(p.memory_s);
  r.network = picoseconds(p.latency_s + p.bandwidth_s);
  r.host = picoseconds(p.host_s);
  r.bandwidth = std::min(picoseconds(p.bandwidth_s), r.network);
  r.bytes = std::llround(p.bytes_sent);
  r.energy_uj = std::llround(joules * 1e6);
  (r.compute > r.memory ? r.compute : r.memory) += picoseconds(p.total_s()) - r.total();
  return r;
}

// Where the model falls from one row to the next, or below `floor` (the same table without prefill), the row is raised
// and its larger roofline carries the difference.
std::vector<CompiledCost::Row> CompiledCost::tabulate(const StepModel& model, std::int32_t most,
                                                      const std::vector<Row>* floor,
                                                      const std::function<Parts(std::int32_t)>& f) {
  std::vector<Row> table(static_cast<std::size_t>(most) + 1);
  for (std::size_t n = 1; n < table.size(); ++n) {
    const Parts parts = f(static_cast<std::int32_t>(n));
    Row r = rounded(parts, model.energy_j(parts));
    std::int64_t least = table[n - 1].total();
    if (floor != nullptr && n < floor->size()) least = std::max(least, (*floor)[n].total());
    if (r.total() < least) (r.compute > r.memory ? r.compute : r.memory) += least - r.total();
    table[n] = r;
  }
  return table;
}

CompiledCost::Line CompiledCost::fixed_point(const ChunkLine& line, double factor) {
  const double scale = factor * core::ps_per_second * std::ldexp(1.0, fraction_bits);
  return {std::llround(line.per_pair * scale), std::llround(line.per_query * scale), std::llround(line.per_key * scale),
          std::llround(line.per_chunk * scale)};
}

std::int64_t CompiledCost::Line::at(const ChunkWork& w) const {
  const Wide sum = static_cast<Wide>(per_pair) * w.pairs + static_cast<Wide>(per_query) * w.queries +
                   static_cast<Wide>(per_key) * w.keys + per_chunk;
  return static_cast<std::int64_t>(sum >> fraction_bits);
}

void CompiledCost::compile_chunks(const StepModel& model) {
  const double factor = model.factor(true);
  for (std::size_t c = 0; c < classes_.size(); ++c) {
    const ChunkClass& from = model.attention().prefill[c];
    classes_[c] = {from.window, from.size, forms_.size(), forms_.size() + from.forms.size(), {}};
    if (c < decode_.size() && !model.measured(static_cast<int>(c)).prefill.empty()) {
      const MeasuredPrefill& m = model.measured(static_cast<int>(c)).prefill;
      classes_[c].measured = TokenCurve(model.input().max_model_len, [&](std::int64_t n) {
        return std::llround(factor * static_cast<double>(m.curve().at(static_cast<std::int32_t>(n))));
      });
    }
    for (const ChunkForm& f : from.forms)
      forms_.push_back({fixed_point(f.compute, factor), fixed_point(f.memory, factor)});
  }
}

CompiledCost::CompiledCost(const StepModel& model) : host_(model.host()), window_(model.attention().window) {
  const StepModelInput& in = model.input();
  const std::int32_t most_decoders = std::min(in.max_num_seqs, in.max_num_batched_tokens);
  most_tokens_ = {most_decoders, in.max_num_batched_tokens};
  most_rows_ = most_decoders;
  for (const std::size_t mixed : {std::size_t{0}, std::size_t{1}}) {
    const std::int32_t most = mixed == 1 ? in.max_num_batched_tokens : most_decoders;
    const bool with_prefill = mixed == 1;
    tokens_[mixed] = tabulate(model, most, with_prefill ? &tokens_[0] : nullptr,
                              [&](std::int32_t n) { return model.tokens(n, with_prefill); });
    rows_[mixed] = tabulate(model, most_decoders, with_prefill ? &rows_[0] : nullptr,
                            [&](std::int32_t n) { return model.rows(n, with_prefill); });
  }
  for (std::size_t c = 0; c < decode_.size(); ++c) {
    // A model whose layers are all windowed keeps a whole-context table of zeros.
    if (c == 1 && window_ == 0) continue;
    decode_[c] = DecodeTable(most_decoders, in.max_model_len, [&](double d, double s) {
      const Rooflines r = model.decode(static_cast<int>(c), d, s, false);
      return DecodeTable::Seconds{r.compute_s, r.memory_s};
    });
  }
  factor_ = {std::int64_t{1} << factor_bits, std::llround(std::ldexp(model.factor(true), factor_bits))};
  compile_chunks(model);
  compile_energy(model);
  compile_decode_rows();
}

void CompiledCost::compile_energy(const StepModel& model) {
  if (!model.power().known()) return;
  const auto joules = [](double j) { return std::llround(std::ldexp(j * 1e6, energy_bits)); };
  const auto watts = [&joules](double w) { return joules(w / core::ps_per_second); };
  for (std::size_t c = 0; c < energy_.size(); ++c) {
    const DecodeEnergy e = model.decode_energy(static_cast<int>(c));
    energy_[c] = {joules(e.fixed), joules(e.per_decoder), joules(e.per_context), watts(model.power().active_w())};
  }
  chunk_energy_ = watts(model.chunk_w());
}

void CompiledCost::compile_decode_rows() {
  if (window_ > 0) return;
  decode_rows_.resize(rows_[0].size());
  for (std::size_t n = 0; n < decode_rows_.size(); ++n) {
    const auto decoders = static_cast<std::int32_t>(n);
    const Row& t = tokens_[0][n];
    const Row& r = rows_[0][n];
    const Energy& e = energy_[0];
    const std::int64_t attention = e.per_decoder * decoders + (n > 0 ? e.fixed : 0);
    const HostTime::Parts host = host_.parts(decoders, 0, 0);
    decode_rows_[n] = {t.compute + r.compute,
                       t.memory + r.memory,
                       t.network + r.network,
                       t.host + r.host,
                       t.bytes + r.bytes,
                       t.energy_uj + r.energy_uj,
                       attention,
                       host_.overlapped ? host.hidden : 0,
                       host_.overlapped ? host.exposed : host.exposed + host.hidden};
  }
}

core::Duration CompiledCost::chunk(std::int32_t from, std::int32_t to) const {
  SERVECAST_ENSURE(0 <= from && from < to, "a prefill chunk from {} to {}", from, to);
  std::int64_t ps = 0;
  for (const Class& c : classes_) {
    if (c.first == c.last) continue;
    if (!c.measured.empty()) {
      ps += chunk_ps(c.measured, from, to);
      continue;
    }
    const ChunkWork w = chunk_work(from, to, c.window, c.size);
    std::int64_t best = std::numeric_limits<std::int64_t>::max();
    for (std::size_t f = c.first; f < c.last; ++f)
      best = std::min(best, std::max(forms_[f].compute.at(w), forms_[f].memory.at(w)));
    ps += best;
  }
  return {ps};
}

// Without host time beyond launch floors. bandwidth: the share of network that stretches with the link. Inlined into
// both callers, the hot path: a call would copy a StepTime twice.
[[gnu::always_inline]] inline StepTime CompiledCost::gpu_part(const StepShape& s, std::int64_t& bandwidth) const {
  const std::size_t mixed = s.prefill_tokens > 0 ? 1 : 0;
  const std::int32_t tokens = s.decode_requests + s.prefill_tokens;
  SERVECAST_ENSURE(
      tokens <= most_tokens_[mixed] && s.sampled_rows <= most_rows_ && s.decode_requests <= most_tokens_[0],
      "a step of {} decoding sequences, {} prefill tokens and {} sampled rows exceeds the engine's limits",
      s.decode_requests, s.prefill_tokens, s.sampled_rows);
  const Row& t = tokens_[mixed][static_cast<std::size_t>(tokens)];
  const Row& r = rows_[mixed][static_cast<std::size_t>(s.sampled_rows)];
  StepTime out;
  out.compute.ps = t.compute + r.compute + s.prefill_attention.ps;
  out.memory.ps = t.memory + r.memory;
  out.network.ps = t.network + r.network;
  out.host.ps = t.host + r.host;
  out.scale_up_bytes = t.bytes + r.bytes;
  out.energy_uj = t.energy_uj + r.energy_uj;
  bandwidth = t.bandwidth + r.bandwidth;
  const std::int64_t whole = add_attention(decode_[0].at(s.decode_requests, s.decode_context), factor_[mixed], out);
  out.energy_uj += energy_[0].of(s.decode_requests, s.decode_context, whole);
  if (window_ > 0) {
    const std::int64_t windowed =
        add_attention(decode_[1].at(s.decode_requests, s.decode_context_windowed), factor_[mixed], out);
    out.energy_uj += energy_[1].of(s.decode_requests, s.decode_context_windowed, windowed);
  }
  if (mixed == 1) out.energy_uj += (s.prefill_attention.ps * chunk_energy_) >> energy_bits;
  return out;
}

[[gnu::always_inline]] inline void CompiledCost::finish(const StepShape& s, StepTime& t) const {
  const std::int64_t gpu = t.compute.ps + t.memory.ps + t.network.ps + t.host.ps;
  const std::int64_t extra = host_.extra(gpu, s.decode_requests, s.prefill_requests, s.prefill_tokens);
  t.host.ps += extra;
  t.total.ps = gpu + extra;
}

// What gpu_part and finish give, in less work: most steps are such.
inline StepTime CompiledCost::decode_step(std::int32_t decoders, std::int64_t context) const {
  SERVECAST_ENSURE(decoders <= most_tokens_[0], "{} decoding sequences, beyond the engine's limits", decoders);
  const DecodeRow& row = decode_rows_[static_cast<std::size_t>(decoders)];
  const Lines lines = decode_[0].at(decoders, context);
  const bool arithmetic = lines.compute_ps >= lines.memory_ps;
  const std::int64_t attention = arithmetic ? lines.compute_ps : lines.memory_ps;
  const std::int64_t gpu = row.compute + row.memory + row.network + row.host + attention;
  const std::int64_t extra = row.exposed + (row.hidden > gpu ? row.hidden - gpu : 0);
  StepTime t;
  t.total.ps = gpu + extra;
  t.compute.ps = row.compute + (arithmetic ? attention : 0);
  t.memory.ps = row.memory + (arithmetic ? 0 : attention);
  t.network.ps = row.network;
  t.host.ps = row.host + extra;
  t.scale_up_bytes = row.bytes;
  t.energy_uj =
      row.energy_uj +
      ((row.attention_energy + energy_[0].per_context * context + energy_[0].per_ps * attention) >> energy_bits);
  return t;
}

StepTime CompiledCost::step(const StepShape& shape) const {
  if (shape.prefill_tokens == 0 && shape.sampled_rows == shape.decode_requests && !decode_rows_.empty())
    return decode_step(shape.decode_requests, shape.decode_context);
  std::int64_t bandwidth = 0;
  StepTime t = gpu_part(shape, bandwidth);
  finish(shape, t);
  return t;
}

StepTime CompiledCost::step(const StepShape& shape, const LinkOffer& offer) const {
  SERVECAST_ENSURE(offer.scale_up > 0, "a step on a scale-up link that offers {}", offer.scale_up);
  std::int64_t bandwidth = 0;
  StepTime t = gpu_part(shape, bandwidth);
  t.network.ps += std::llround(static_cast<double>(bandwidth) / offer.scale_up) - bandwidth;
  finish(shape, t);
  return t;
}

std::size_t CompiledCost::table_bytes() const {
  std::size_t rows = 0;
  for (std::size_t mixed = 0; mixed < 2; ++mixed) rows += tokens_[mixed].size() + rows_[mixed].size();
  return rows * sizeof(Row) + decode_rows_.size() * sizeof(DecodeRow) + decode_[0].bytes() + decode_[1].bytes() +
         classes_[0].measured.bytes() + classes_[1].measured.bytes();
}

}  // namespace servecast::cost
