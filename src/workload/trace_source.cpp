#include "core/error.hpp"
#include "workload/arrivals.hpp"
#include "workload/prefix.hpp"
#include "workload/sources.hpp"
#include "workload/tick_spreader.hpp"
#include "workload/trace.hpp"

#include <fmt/core.h>

#include <cmath>
#include <limits>
#include <utility>

namespace servecast::workload {

namespace {

// Replays a trace, one record read ahead (one tick when ticks are spread).
class TraceSource final : public Source {
 public:
  TraceSource(const WorkloadConfig& c, std::uint64_t seed, LengthGate gate, SourceReport& report, StopFlag stop)
      : trace_(*c.trace, c.format, rows(c.limit)),
        gate_(gate),
        report_(&report),
        stop_(stop),
        rate_scale_(c.rate_scale),
        end_(c.duration_s ? instant(*c.duration_s) : core::Time::never()),
        left_(rows(c.requests)) {
    if (c.spread_ticks) spreader_.emplace(seed);
    for (std::string& note : trace_.notes()) report_->warnings.push_back(std::move(note));
    prepare();
  }

  core::Time next_arrival() override { return ready_.arrival; }

  Request take() override {
    SERVECAST_ENSURE(next_arrival() != core::Time::never(), "the trace is at its end");
    Request request = std::move(ready_);
    prepare();
    return request;
  }

 private:
  static std::uint64_t rows(const std::optional<std::int64_t>& stated) {
    return stated ? static_cast<std::uint64_t>(*stated) : std::numeric_limits<std::uint64_t>::max();
  }

  bool read() { return spreader_ ? spreader_->next(trace_, record_) : trace_.next(record_); }

  core::Time arrival() const {
    const double ns = static_cast<double>(record_.arrival_ns) / rate_scale_;
    if (!(ns < core::longest_run_s * 1e9)) {
      throw core::InputError(
          fmt::format("{}:{}", trace_.path(), record_.line),
          fmt::format("the request arrives {:.0f} s after the first, and the longest run is {:.0f} s; "
                      "raise rate_scale, or set limit or duration_s",
                      ns * 1e-9, core::longest_run_s));
    }
    // Exact where nothing is scaled.
    if (rate_scale_ == 1) return {record_.arrival_ns * 1000};
    return {std::llrint(static_cast<double>(record_.arrival_ns) * 1000 / rate_scale_)};
  }

  bool past_end() const { return static_cast<double>(record_.arrival_ns) / rate_scale_ > core::to_seconds(end_) * 1e9; }

  void prepare() {
    ready_ = Request{};
    while (left_ > 0 && !stop_.raised() && read()) {
      if (end_ != core::Time::never() && past_end()) break;
      ready_.arrival = arrival();
      --left_;
      ++report_->offered;
      ready_.prompt_tokens = record_.input_tokens;
      ready_.hidden.output_tokens = record_.output_tokens;
      if (!gate_.admit(ready_.prompt_tokens, ready_.hidden.output_tokens, {&trace_.path(), record_.line})) continue;
      ready_.id = {next_id_++};
      ready_.session = record_.session;
      if (!record_.prefix.empty()) {
        ready_.content = trace_content(record_.prefix, trace_.block_tokens(), ready_.prompt_tokens);
      }
      return count_rows();
    }
    left_ = 0;
    ready_.arrival = core::Time::never();
    count_rows();
  }

  void count_rows() {
    report_->trace_rows = trace_.rows();
    if (!trace_.skipped().empty()) report_->skipped = trace_.skipped();
    if (!trace_.irregular().empty()) report_->irregular = trace_.irregular();
  }

  Trace trace_;
  LengthGate gate_;
  SourceReport* report_;
  StopFlag stop_;
  double rate_scale_;
  core::Time end_;
  std::uint64_t left_;
  std::optional<TickSpreader> spreader_;
  TraceRecord record_;
  std::uint32_t next_id_ = 0;
  Request ready_;
};

}  // namespace

std::unique_ptr<Source> make_trace_source(const WorkloadConfig& c, std::uint64_t seed, LengthGate gate,
                                          SourceReport& report, StopFlag stop) {
  return std::make_unique<TraceSource>(c, seed, gate, report, stop);
}

}  // namespace servecast::workload
