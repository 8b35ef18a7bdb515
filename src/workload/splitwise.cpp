// Traces of the Splitwise simulator: request_id, request_type, application_id, arrival_timestamp (seconds), batch_size,
// prompt_size, token_size. Only a batch size of 1 is a request.
#include "core/error.hpp"
#include "workload/csv_rows.hpp"
#include "workload/trace_formats.hpp"
#include "workload/trace_values.hpp"

namespace servecast::workload {

namespace {

class Splitwise final : public TraceReader {
 public:
  explicit Splitwise(TraceLines lines)
      : rows_(std::move(lines), "splitwise", {"arrival_timestamp", "batch_size", "prompt_size", "token_size"}) {}

  bool next(TraceRecord& record) override {
    if (!rows_.next()) return false;
    record.line = rows_.lines().number();
    const std::string place = rows_.lines().place();
    record.arrival_ns = decimal_ns(rows_.value(0), 1000000000, {place, "arrival_timestamp"});
    if (token_count(rows_.value(1), {place, "batch_size"}) != 1) {
      throw core::InputError(
          place, fmt::format("batch_size is {}; only 1 is supported, one row a request", excerpt(rows_.value(1))));
    }
    record.input_tokens = token_count(rows_.value(2), {place, "prompt_size"});
    record.output_tokens = token_count(rows_.value(3), {place, "token_size"});
    return true;
  }

 private:
  CsvRows rows_;
};

}  // namespace

std::unique_ptr<TraceReader> make_splitwise_reader(TraceLines lines) {
  return std::make_unique<Splitwise>(std::move(lines));
}

}  // namespace servecast::workload
