#include "cost/decode_table.hpp"

#include "core/time.hpp"

#include <algorithm>
#include <cmath>

namespace servecast::cost {
namespace {

constexpr double error_bound = 0.0025;  // half of the 0.5 % promised
constexpr int most_splits = 4;
constexpr int most_fraction_bits = 20;

std::int64_t picoseconds(double s) { return core::seconds(s).ps; }

// Numbers of decoders that errors are looked for at.
std::int32_t next_sample(std::int32_t d) { return d * 2 + (d & 1); }

double slower(const DecodeTable::Seconds& s) { return std::max(s.compute_s, s.memory_s); }

}  // namespace

DecodeTable::DecodeTable(std::int32_t max_decoders, std::int32_t max_context, const Function& f) {
  SERVECAST_ENSURE(max_decoders >= 1 && max_context >= 1, "a table of {} decoders of {} tokens", max_decoders,
                   max_context);
  // Contexts of D sequences span from the octave of D to that of D * max_context.
  octaves_ = 33 - std::countl_zero(static_cast<std::uint32_t>(max_context));
  // Splits are chosen on some rows; the others are filled once.
  for (splits_ = 0;; ++splits_) {
    stride_ = (static_cast<std::size_t>(octaves_) << splits_) + 1;
    knots_.assign(stride_ * (static_cast<std::size_t>(max_decoders) + 1), {});
    for (std::int32_t d = 1; d < max_decoders; d = next_sample(d)) fill_row(d, f);
    fill_row(max_decoders, f);
    const Lines& last = knots_.back();
    const auto longest = static_cast<std::uint64_t>(std::max(last.compute_ps, last.memory_ps));
    fraction_bits_ = std::min(most_fraction_bits, std::countl_zero(longest) - 1);
    if (splits_ == most_splits || worst_error(max_decoders, f) <= error_bound) break;
  }
  for (std::int32_t d = 1, sample = 1; d < max_decoders; ++d) {
    if (d == sample)
      sample = next_sample(d);
    else
      fill_row(d, f);
  }
}

void DecodeTable::fill_row(std::int32_t decoders, const Function& f) {
  const int first = 31 - std::countl_zero(static_cast<std::uint32_t>(decoders));
  Lines* row = &knots_[static_cast<std::size_t>(decoders) * stride_];
  for (std::size_t k = 0; k < stride_; ++k) {
    const auto octave = static_cast<int>(k >> splits_);
    const double part = std::ldexp(static_cast<double>(k - (static_cast<std::size_t>(octave) << splits_)), -splits_);
    const Seconds s = f(decoders, std::ldexp(1.0 + part, first + octave));
    row[k] = {picoseconds(s.compute_s), picoseconds(s.memory_s)};
  }
}

// Looked for halfway between knots, where a chord is farthest from a smooth curve, on some numbers of decoders.
double DecodeTable::worst_error(std::int32_t max_decoders, const Function& f) const {
  double worst = 0;
  for (std::int32_t d = 1; d <= max_decoders; d = next_sample(d)) {
    const int first = 31 - std::countl_zero(static_cast<std::uint32_t>(d));
    for (std::size_t k = 0; k + 1 < stride_; ++k) {
      const auto octave = static_cast<int>(k >> splits_);
      const double part =
          std::ldexp(static_cast<double>(k - (static_cast<std::size_t>(octave) << splits_)) + 0.5, -splits_);
      const double context = std::floor(std::ldexp(1.0 + part, first + octave));
      if (context < d) continue;
      const Lines l = at(d, static_cast<std::int64_t>(context));
      const double got = static_cast<double>(std::max(l.compute_ps, l.memory_ps)) / core::ps_per_second;
      const double exact = slower(f(d, context));
      if (exact > 0) worst = std::max(worst, std::abs(got - exact) / exact);
    }
  }
  return worst;
}

}  // namespace servecast::cost
