#include "cost/explain_dies.hpp"

#include <algorithm>
#include <array>

namespace servecast::cost {
namespace {

struct Bound {
  std::string_view name;
  double seconds = 0;
};

class Rows {
 public:
  explicit Rows(const StepModel& model) : model_(model) {}

  // compute_s, floor_s: of the operator by its own; seconds: all of it.
  void add(std::string_view name, double seconds, double compute_s, double floor_s, double bytes, const DieTraffic& t) {
    const Dies& dies = model_.dies();
    const hardware::Gpu& gpu = model_.input().gpu;
    DieRow row;
    row.name = name;
    row.seconds = seconds;
    row.hbm_bytes = bytes;
    row.l2_bytes = t.l2_bytes;
    row.crossing_bytes = dies.crossing_bytes(t);
    row.crossing_s = dies.crossing_s(t);
    row.headroom = seconds > 0 ? std::max(0.0, 1.0 - row.crossing_s / seconds) : 0.0;
    const std::array<Bound, 5> bounds = {{{"launch", floor_s},
                                          {"compute", compute_s},
                                          {"HBM", bytes / (gpu.memory_tb_s * 1e12)},
                                          {"L2", dies.l2_bytes_per_s() > 0 ? t.l2_bytes / dies.l2_bytes_per_s() : 0},
                                          {"die link", row.crossing_s}}};
    row.limit = std::max_element(bounds.begin(), bounds.end(), [](const Bound& a, const Bound& b) {
                  return a.seconds < b.seconds;
                })->name;
    rows_.push_back(row);
  }

  void add(const std::vector<TimedOperator>& times, double units, double factor) {
    for (const TimedOperator& x : times) {
      if (x.op->kind == Kind::AllReduce || x.op->kind == Kind::AllGather) continue;
      add(x.op->name, factor * x.time.total_s(), factor * x.compute_s, factor * x.time.floor_s, x.time.bytes,
          model_.traffic(*x.op, units));
    }
  }

  void add_decode(const StepShape& s, bool mixed) {
    constexpr std::array<std::string_view, 2> names = {"decode attention", "decode attention, windowed"};
    for (int c = 0; c < 2 && s.decode_requests > 0; ++c) {
      const DecodeClass& cls = model_.attention().decode[static_cast<std::size_t>(c)];
      if (cls.empty()) continue;
      const auto context = static_cast<double>(c == 0 ? s.decode_context : s.decode_context_windowed);
      const Rooflines r = model_.decode(c, s.decode_requests, context, mixed);
      add(names[static_cast<std::size_t>(c)], r.seconds(), r.flops / cls.flops_per_s, 0, r.bytes,
          model_.decode_traffic(c, s.decode_requests, context));
    }
  }

  void add_prefill(const std::vector<std::pair<std::int32_t, std::int32_t>>& chunks) {
    for (const auto& [from, to] : chunks) {
      double compute_s = 0;
      double bytes = 0;
      for (const ChunkClass& c : model_.attention().prefill) {
        if (c.forms.empty()) continue;
        const ChunkWork w = chunk_work(from, to, c.window, c.size);
        compute_s += c.forms.front().compute.at(w);
        bytes += c.forms.front().bytes.at(w);
      }
      add("prefill attention", model_.chunk_s(from, to), compute_s, 0, bytes, model_.chunk_traffic(from, to));
    }
  }

  std::vector<DieRow> take() { return std::move(rows_); }

 private:
  const StepModel& model_;
  std::vector<DieRow> rows_;
};

}  // namespace

std::vector<DieRow> explain_dies(const StepModel& model, const StepShape& shape,
                                 const std::vector<std::pair<std::int32_t, std::int32_t>>& chunks) {
  if (!model.dies().present()) return {};
  std::int32_t tokens = shape.decode_requests;
  for (const auto& [from, to] : chunks) tokens += to - from;
  Rows rows(model);
  if (tokens > 0) rows.add(model.token_times(tokens), model.padded(tokens).tokens, model.factor(!chunks.empty()));
  rows.add_decode(shape, !chunks.empty());
  rows.add_prefill(chunks);
  rows.add(model.row_times(shape.sampled_rows), shape.sampled_rows, model.factor(!chunks.empty()));
  return rows.take();
}

}  // namespace servecast::cost
