// Azure LLM inference traces: TIMESTAMP,ContextTokens,GeneratedTokens. 2023 has seven fraction digits and CRLF, 2024
// mixes times with and without a fraction, the multimodal trace adds NumImages.
#include "workload/csv_rows.hpp"
#include "workload/trace_formats.hpp"
#include "workload/trace_values.hpp"

namespace servecast::workload {

namespace {

class Azure final : public TraceReader {
 public:
  explicit Azure(TraceLines lines)
      : rows_(std::move(lines), "azure", {"TIMESTAMP", "ContextTokens", "GeneratedTokens"}) {}

  bool next(TraceRecord& record) override {
    if (!rows_.next()) return false;
    record.line = rows_.lines().number();
    const std::string place = rows_.lines().place();
    record.arrival_ns = date_ns(rows_.value(0), {place, "TIMESTAMP"});
    record.input_tokens = token_count(rows_.value(1), {place, "ContextTokens"});
    record.output_tokens = token_count(rows_.value(2), {place, "GeneratedTokens"});
    return true;
  }

  std::vector<std::string> notes() const override {
    if (!rows_.has("NumImages")) return {};
    return {"NumImages is ignored: encoding images costs nothing here beyond their ContextTokens"};
  }

 private:
  CsvRows rows_;
};

}  // namespace

std::unique_ptr<TraceReader> make_azure_reader(TraceLines lines) { return std::make_unique<Azure>(std::move(lines)); }

}  // namespace servecast::workload
