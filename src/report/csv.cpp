#include "report/csv.hpp"

#include "core/error.hpp"
#include "metrics/request_log.hpp"
#include "metrics/timeline.hpp"
#include "report/output_folder.hpp"

#include <algorithm>
#include <charconv>

namespace servecast::report {

namespace {

constexpr std::size_t longest_row = 512;  // of numbers only: 11 fields of at most 21 characters
constexpr int ps_per_second_digits = 12;
constexpr int ps_per_ms_digits = 9;

constexpr std::int64_t power_of_ten(int n) {
  std::int64_t value = 1;
  while (n-- > 0) value *= 10;
  return value;
}

// Rounds half up; TPOT is not a whole number of picoseconds.
std::int64_t divide(std::int64_t a, std::int64_t b) { return (2 * a + b) / (2 * b); }

void reached(CsvWriter& csv, const metrics::Record& record, core::Duration client_overhead) {
  const bool started = record.first_token != core::Time::never();
  if (started) {
    csv.fixed((record.first_token - record.arrival + client_overhead).ps, ps_per_ms_digits);
  } else {
    csv.empty();
  }
  if (record.completed() && record.output_tokens > 1) {
    csv.fixed(divide((record.finish - record.first_token).ps, record.output_tokens - 1), ps_per_ms_digits);
  } else {
    csv.empty();
  }
  if (record.completed()) {
    csv.fixed((record.finish - record.arrival + client_overhead).ps, ps_per_ms_digits);
  } else {
    csv.empty();
  }
}

}  // namespace

void CsvWriter::append(std::string_view bytes) {
  while (!bytes.empty()) {
    if (used_ == capacity) {
      file_.write(buffer_);
      used_ = 0;
    }
    const std::size_t n = std::min(bytes.size(), capacity - used_);
    std::copy_n(bytes.data(), n, buffer_.data() + used_);
    used_ += n;
    bytes.remove_prefix(n);
  }
}

void CsvWriter::text(std::string_view field) {
  if (!first_) append(",");
  first_ = false;
  if (field.find_first_of(",\"\r\n") == std::string_view::npos) {
    append(field);
  } else {
    std::string quoted = "\"";
    for (const char c : field) quoted.append(c == '"' ? 2 : 1, c);
    append(quoted + '"');
  }
  keep_room();
}

void CsvWriter::integer(std::int64_t field) {
  separate();
  char* const at = buffer_.data() + used_;
  used_ = static_cast<std::size_t>(std::to_chars(at, buffer_.data() + capacity, field).ptr - buffer_.data());
}

void CsvWriter::fixed(std::int64_t value, int decimals) {
  separate();
  char* at = buffer_.data() + used_;
  if (value < 0) *at++ = '-';
  const std::uint64_t magnitude = value < 0 ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
  const auto scale = static_cast<std::uint64_t>(power_of_ten(decimals));
  at = std::to_chars(at, buffer_.data() + capacity, magnitude / scale).ptr;
  std::uint64_t fraction = magnitude % scale;
  if (fraction != 0) {
    *at++ = '.';
    int digits = decimals;
    while (fraction % 10 == 0) {
      fraction /= 10;
      --digits;
    }
    for (int i = digits - 1; i >= 0; --i, fraction /= 10) at[i] = static_cast<char>('0' + fraction % 10);
    at += digits;
  }
  used_ = static_cast<std::size_t>(at - buffer_.data());
}

void CsvWriter::end_row() {
  append("\r\n");
  first_ = true;
  keep_room();
}

void CsvWriter::keep_room() {
  if (capacity - used_ < longest_row) finish();
}

void CsvWriter::finish() {
  file_.write(std::string_view(buffer_).substr(0, used_));
  used_ = 0;
}

void write_requests_csv(OutputFile& file, const metrics::RequestLog& log, core::Duration client_overhead) {
  SERVECAST_ENSURE(log.has_details(), "rows are wanted of {} requests but their details were not kept",
                   log.records().size());
  file.write(
      "id,arrival_s,replica,prompt_tokens,cached_prompt_tokens,output_tokens,ttft_ms,tpot_ms,e2e_ms,preemptions,"
      "status\r\n");
  CsvWriter csv(file);
  const metrics::Records& records = log.records();
  for (std::size_t i = 0; i < records.size(); ++i) {
    const metrics::Record& record = records[i];
    const metrics::RecordDetail& detail = log.detail(i);
    csv.integer(static_cast<std::int64_t>(i));
    csv.fixed(record.arrival.ps, ps_per_second_digits);
    csv.integer(detail.replica);
    csv.integer(record.prompt_tokens);
    csv.integer(std::max(0, detail.cached_prompt_tokens));
    if (record.completed()) {
      csv.integer(record.output_tokens);
    } else {
      csv.empty();
    }
    reached(csv, record, client_overhead);
    csv.integer(detail.preemptions);
    csv.text(record.completed() ? "completed" : record.rejected() ? "rejected" : "unfinished");
    csv.end_row();
  }
  csv.finish();
}

void write_timeline_csv(OutputFile& file, const metrics::Timeline& timeline) {
  file.write(
      "time_s,pool,waiting,running,blocks_used,blocks_cached,blocks_total,tokens_held,slots_reserved,slots_internal,"
      "slots_external,in_flight");
  file.write(timeline.tiers() ? ",blocks_host,blocks_nvme\r\n" : "\r\n");
  CsvWriter csv(file);
  for (std::size_t i = 0; i < timeline.size(); ++i) {
    for (std::size_t p = 0; p < timeline.pools().size(); ++p) {
      const metrics::PoolSample& sample = timeline.sample(i)[p];
      csv.fixed(timeline.time(i).ps, ps_per_second_digits);
      csv.text(timeline.pools()[p]);
      csv.integer(sample.waiting);
      csv.integer(sample.running);
      csv.integer(sample.blocks_used);
      csv.integer(sample.blocks_cached);
      csv.integer(sample.blocks_total);
      csv.integer(sample.tokens_held);
      csv.integer(sample.slots_reserved);
      csv.integer(sample.slots_internal);
      csv.integer(sample.slots_external);
      csv.integer(timeline.in_flight(i));
      if (timeline.tiers()) {
        csv.integer(sample.blocks_host);
        csv.integer(sample.blocks_storage);
      }
      csv.end_row();
    }
  }
  csv.finish();
}

}  // namespace servecast::report
