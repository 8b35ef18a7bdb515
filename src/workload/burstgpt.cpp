// BurstGPT: Timestamp (seconds), Request tokens, Response tokens among other columns, whose set differs between the
// files. Failed requests have no response tokens.
#include "workload/csv_rows.hpp"
#include "workload/trace_formats.hpp"
#include "workload/trace_values.hpp"

namespace servecast::workload {

namespace {

class Burstgpt final : public TraceReader {
 public:
  explicit Burstgpt(TraceLines lines)
      : rows_(std::move(lines), "burstgpt", {"Timestamp", "Request tokens", "Response tokens"}) {}

  bool next(TraceRecord& record) override {
    if (!rows_.next()) return false;
    record.line = rows_.lines().number();
    const std::string place = rows_.lines().place();
    record.arrival_ns = decimal_ns(rows_.value(0), 1000000000, {place, "Timestamp"});
    record.input_tokens = token_count(rows_.value(1), {place, "Request tokens"});
    record.output_tokens = token_count(rows_.value(2), {place, "Response tokens"});
    return true;
  }

 private:
  CsvRows rows_;
};

}  // namespace

std::unique_ptr<TraceReader> make_burstgpt_reader(TraceLines lines) {
  return std::make_unique<Burstgpt>(std::move(lines));
}

}  // namespace servecast::workload
