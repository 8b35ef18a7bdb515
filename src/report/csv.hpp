// Rows of requests.csv and timeline.csv, RFC 4180 (fields quoted where needed, lines end in CR LF). Times are printed
// exactly, from integer picoseconds, without binary rounding. A value a request never reached is an empty field.
#pragma once

#include "core/time.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace servecast::metrics {
class RequestLog;
class Timeline;
}  // namespace servecast::metrics

namespace servecast::report {

class OutputFile;

// Appends fields to a buffer and hands it to the file in large pieces. Call finish() at the end.
class CsvWriter {
 public:
  explicit CsvWriter(OutputFile& file) : file_(file) { buffer_.resize(capacity); }

  void text(std::string_view field);
  void integer(std::int64_t field);
  // value / 10^decimals, exactly, without trailing zeros.
  void fixed(std::int64_t value, int decimals);
  void empty() { separate(); }
  void end_row();
  void finish();

 private:
  static constexpr std::size_t capacity = 1 << 16;
  void separate() {
    if (!first_) buffer_[used_++] = ',';
    first_ = false;
  }
  void append(std::string_view bytes);
  void keep_room();  // for the numbers of one row, which are written unchecked

  OutputFile& file_;
  std::string buffer_;
  std::size_t used_ = 0;
  bool first_ = true;
};

// id,arrival_s,replica,prompt_tokens,cached_prompt_tokens,output_tokens,ttft_ms,tpot_ms,e2e_ms,preemptions,status
// status: completed, unfinished or rejected. TTFT and E2E include the client overhead. Requires: log.has_details().
void write_requests_csv(OutputFile& file, const metrics::RequestLog& log, core::Duration client_overhead);

// time_s,pool,waiting,running,blocks_used,blocks_cached,blocks_total,in_flight: one row per sample and pool.
void write_timeline_csv(OutputFile& file, const metrics::Timeline& timeline);

}  // namespace servecast::report
