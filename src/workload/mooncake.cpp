// Mooncake traces: JSON lines with timestamp (milliseconds), input_length, output_length and hash_ids, chained ids of
// blocks of 512 tokens.
#include "workload/json_rows.hpp"
#include "workload/trace_formats.hpp"

namespace servecast::workload {

namespace {

constexpr JsonSchema schema = {"mooncake", "timestamp", 1000000, "input_length", "output_length", "hash_ids", ""};

class Mooncake final : public TraceReader {
 public:
  explicit Mooncake(TraceLines lines) : lines_(std::move(lines)) {}
  bool next(TraceRecord& record) override {
    std::string_view line;
    if (!lines_.next(line)) return false;
    parse_json_row(line, schema, lines_, record);
    return true;
  }
  std::int32_t block_tokens() const override { return 512; }

 private:
  TraceLines lines_;
};

}  // namespace

std::unique_ptr<TraceReader> make_mooncake_reader(TraceLines lines) {
  return std::make_unique<Mooncake>(std::move(lines));
}

}  // namespace servecast::workload
