// Alibaba Bailian (Qwen) usage traces: JSON lines with timestamp (seconds), input_length, output_length and hash_ids,
// chained ids of blocks of 16 tokens. chat_id names a request, not a conversation, and is passed over.
#include "workload/json_rows.hpp"
#include "workload/trace_formats.hpp"

namespace servecast::workload {

namespace {

constexpr JsonSchema schema = {"bailian", "timestamp", 1000000000, "input_length", "output_length", "hash_ids", ""};

class Bailian final : public TraceReader {
 public:
  explicit Bailian(TraceLines lines) : lines_(std::move(lines)) {}
  bool next(TraceRecord& record) override {
    std::string_view line;
    if (!lines_.next(line)) return false;
    parse_json_row(line, schema, lines_, record);
    return true;
  }
  std::int32_t block_tokens() const override { return 16; }

 private:
  TraceLines lines_;
};

}  // namespace

std::unique_ptr<TraceReader> make_bailian_reader(TraceLines lines) {
  return std::make_unique<Bailian>(std::move(lines));
}

}  // namespace servecast::workload
