#include "workload/servecast_trace.hpp"

#include "core/error.hpp"
#include "core/units.hpp"
#include "workload/json_rows.hpp"
#include "workload/trace_formats.hpp"

#include <fmt/format.h>

#include <iterator>
#include <ostream>
#include <string>

namespace servecast::workload {

namespace {

constexpr JsonSchema schema = {"servecast",     "arrival_s", 1000000000, "input_tokens",
                               "output_tokens", "prefix",    "session",  true};

class ServecastReader final : public TraceReader {
 public:
  explicit ServecastReader(TraceLines lines) : lines_(std::move(lines)) {
    std::string_view line;
    if (!lines_.next(line)) return;
    const std::int32_t block = parse_servecast_header(line, lines_);
    if (block == 0) {
      lines_.unread();
    } else {
      block_tokens_ = block;
    }
  }

  bool next(TraceRecord& record) override {
    std::string_view line;
    if (!lines_.next(line)) return false;
    parse_json_row(line, schema, lines_, record);
    check_prefix(record);
    return true;
  }
  std::int32_t block_tokens() const override { return block_tokens_; }

 private:
  // A prefix may end before the prompt does, but not after it.
  void check_prefix(const TraceRecord& record) const {
    const std::int64_t blocks = blocks_of(record.input_tokens, block_tokens_);
    if (static_cast<std::int64_t>(record.prefix.size()) <= blocks) return;
    throw core::InputError(
        lines_.place(),
        fmt::format("prefix holds {}, but {} are {} of {}; leave out the rest",
                    core::counted(static_cast<std::int64_t>(record.prefix.size()), "id"),
                    core::counted(record.input_tokens, "input token"), core::counted(blocks, "block"), block_tokens_));
  }

  TraceLines lines_;
  std::int32_t block_tokens_ = servecast_block_tokens;
};

}  // namespace

std::unique_ptr<TraceReader> make_servecast_reader(TraceLines lines) {
  return std::make_unique<ServecastReader>(std::move(lines));
}

TraceWriter::TraceWriter(std::ostream& out, std::int32_t block_tokens) : out_(&out) {
  *out_ << fmt::format("{{\"servecast_trace\":1,\"block_tokens\":{}}}\n", block_tokens);
}

void TraceWriter::write(const TraceRecord& record) {
  constexpr std::int64_t ns_per_s = 1000000000;
  line_.clear();
  const auto end = std::back_inserter(line_);
  fmt::format_to(end, "{{\"arrival_s\":{}.{:09},\"input_tokens\":{},\"output_tokens\":{}", record.arrival_ns / ns_per_s,
                 record.arrival_ns % ns_per_s, record.input_tokens, record.output_tokens);
  if (!record.prefix.empty()) {
    fmt::format_to(end, ",\"prefix\":[");
    for (std::size_t i = 0; i < record.prefix.size(); ++i) fmt::format_to(end, "{}{}", i ? "," : "", record.prefix[i]);
    fmt::format_to(end, "]");
  }
  if (record.session != no_session) fmt::format_to(end, ",\"session\":{}", record.session);
  fmt::format_to(end, "}}\n");
  *out_ << line_;
}

}  // namespace servecast::workload
