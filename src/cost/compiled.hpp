// The step model compiled into flat integer tables, so that a step costs nanoseconds: one row by token count for steps
// with and without prefill, one by sampled rows, decode attention by (decoders, context), prefill attention in closed
// form or as differences of a measured curve. Integer picoseconds throughout; totals are non-decreasing in tokens, rows
// and context.
#pragma once

#include "cost/decode_table.hpp"
#include "cost/roofline.hpp"
#include "cost/step_cost.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace servecast::cost {

class CompiledCost final : public StepCost {
 public:
  explicit CompiledCost(const StepModel& model);

  core::Duration chunk(std::int32_t from, std::int32_t to) const override;
  StepTime step(const StepShape& shape) const override;
  StepTime step(const StepShape& shape, const LinkOffer& offer) const override;
  std::int32_t needs_window() const override { return window_; }

  std::size_t table_bytes() const;

 private:
  // One row of a table, picoseconds and bytes; a cache line. network holds latency and nominal bandwidth together.
  struct alignas(64) Row {
    std::int64_t compute = 0;
    std::int64_t memory = 0;
    std::int64_t network = 0;
    std::int64_t host = 0;
    std::int64_t bandwidth = 0;
    std::int64_t bytes = 0;
    std::int64_t energy_uj = 0;
    std::int64_t total() const { return compute + memory + network + host; }
  };
  // A step that decodes n sequences and does nothing else, but for attention: both tables' rows together, the host's
  // time that hides behind the GPU and the rest of it, and the energy of attention in 2^-energy_bits uJ.
  struct DecodeRow {
    std::int64_t compute = 0;
    std::int64_t memory = 0;
    std::int64_t network = 0;
    std::int64_t host = 0;
    std::int64_t bytes = 0;
    std::int64_t energy_uj = 0;
    std::int64_t attention_energy = 0;
    std::int64_t hidden = 0;
    std::int64_t exposed = 0;
  };
  // A line of a chunk's roofline in 2^-fraction_bits ps.
  static constexpr int fraction_bits = 20;
  struct Line {
    std::int64_t per_pair = 0;
    std::int64_t per_query = 0;
    std::int64_t per_key = 0;
    std::int64_t per_chunk = 0;
    std::int64_t at(const ChunkWork& w) const;
  };
  struct Form {
    Line compute;
    Line memory;
  };
  struct Class {
    Window window = Window::None;
    std::int32_t size = 0;
    std::size_t first = 0;  // forms [first, last); none: no such layers
    std::size_t last = 0;
    TokenCurve measured;  // replaces the forms where not empty
  };
  // Energy of decode attention in 2^-energy_bits uJ.
  static constexpr int energy_bits = 24;
  struct Energy {
    std::int64_t fixed = 0;
    std::int64_t per_decoder = 0;
    std::int64_t per_context = 0;
    std::int64_t per_ps = 0;
    std::int64_t of(std::int64_t decoders, std::int64_t context, std::int64_t ps) const {
      return (per_context * context + per_decoder * decoders + per_ps * ps + (decoders > 0 ? fixed : 0)) >> energy_bits;
    }
  };
  static Row rounded(const Parts& p, double joules);
  static std::vector<Row> tabulate(const StepModel& model, std::int32_t most, const std::vector<Row>* floor,
                                   const std::function<Parts(std::int32_t)>& f);
  static Line fixed_point(const ChunkLine& line, double factor);
  void compile_chunks(const StepModel& model);
  void compile_energy(const StepModel& model);
  void compile_decode_rows();
  StepTime decode_step(std::int32_t decoders, std::int64_t context) const;
  StepTime gpu_part(const StepShape& shape, std::int64_t& bandwidth) const;
  void finish(const StepShape& shape, StepTime& t) const;

  std::array<std::vector<Row>, 2> tokens_;  // [mixed]
  std::array<std::vector<Row>, 2> rows_;
  std::vector<DecodeRow> decode_rows_;    // by decoders; none where some layers have a window
  std::array<DecodeTable, 2> decode_;     // whole context, windowed
  std::array<Energy, 2> energy_{};        // of decode attention
  std::int64_t chunk_energy_ = 0;         // per ps of prefill attention
  std::array<std::int64_t, 2> factor_{};  // [mixed], of decode attention, fixed point
  std::array<Class, 3> classes_;          // and what no context lengthens
  std::vector<Form> forms_;
  std::array<std::int32_t, 2> most_tokens_{};  // [mixed]
  std::int32_t most_rows_ = 0;
  HostTime host_;
  std::int32_t window_ = 0;
};

}  // namespace servecast::cost
