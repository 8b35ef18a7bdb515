#include "workload/trace.hpp"

#include "core/error.hpp"
#include "workload/trace_formats.hpp"
#include "workload/trace_values.hpp"

namespace servecast::workload {

namespace {

[[noreturn]] void refuse_unknown(const TraceLines& lines, std::string_view line) {
  throw core::InputError(lines.place(),
                         fmt::format("the first line {} is of no known trace format; expected a header of "
                                     "azure, burstgpt or splitwise, or a JSON object of mooncake, bailian "
                                     "or servecast",
                                     excerpt(line)));
}

TraceFormat detect(TraceLines& lines) {
  std::string_view line;
  if (!lines.next(line)) throw core::InputError(lines.path(), "is empty; a trace has at least one request");
  lines.unread();
  const auto holds = [line](std::string_view key) { return line.find(key) != std::string_view::npos; };
  if (line.find_first_not_of(" \t") != std::string_view::npos && line[line.find_first_not_of(" \t")] == '{') {
    if (holds("\"hash_id_scope\"")) {
      throw core::InputError(lines.path(),
                             "is one agentic session in a single JSON document, which is not supported; "
                             "convert it to JSON lines of format servecast");
    }
    if (holds("\"servecast_trace\"") || holds("\"arrival_s\"")) return TraceFormat::Servecast;
    if (holds("\"chat_id\"")) return TraceFormat::Bailian;
    if (holds("\"input_length\"")) return TraceFormat::Mooncake;
    refuse_unknown(lines, line);
  }
  if (holds("ContextTokens")) return TraceFormat::Azure;
  if (holds("Request tokens")) return TraceFormat::Burstgpt;
  if (holds("arrival_timestamp")) return TraceFormat::Splitwise;
  refuse_unknown(lines, line);
}

std::unique_ptr<TraceReader> make_reader(TraceLines lines, TraceFormat format) {
  switch (format) {
    case TraceFormat::Azure: return make_azure_reader(std::move(lines));
    case TraceFormat::Mooncake: return make_mooncake_reader(std::move(lines));
    case TraceFormat::Burstgpt: return make_burstgpt_reader(std::move(lines));
    case TraceFormat::Bailian: return make_bailian_reader(std::move(lines));
    case TraceFormat::Splitwise: return make_splitwise_reader(std::move(lines));
    case TraceFormat::Servecast: return make_servecast_reader(std::move(lines));
    case TraceFormat::Auto: break;
  }
  SERVECAST_ENSURE(false, "trace format {} has no reader", static_cast<int>(format));
}

}  // namespace

Trace::Trace(const std::string& path, TraceFormat format, std::uint64_t limit_rows)
    : path_(path), format_(format), limit_(limit_rows) {
  TraceLines lines(path);
  if (format_ == TraceFormat::Auto) format_ = detect(lines);
  reader_ = make_reader(std::move(lines), format_);
}

std::string Trace::place(const TraceRecord& record) const { return fmt::format("{}:{}", path_, record.line); }

void Trace::check_order(const TraceRecord& record) {
  if (rows_ == 1) {
    first_ns_ = record.arrival_ns;
  } else if (record.arrival_ns < last_ns_) {
    throw core::InputError(place(record), fmt::format("the request arrives {:.9g} s before the row above it; sort the "
                                                      "trace by time",
                                                      static_cast<double>(last_ns_ - record.arrival_ns) / 1e9));
  }
  last_ns_ = record.arrival_ns;
}

// Foreign formats give an id to every block, the last one perhaps in part; our own may end its prefix anywhere.
void Trace::check_prefix(const TraceRecord& record) {
  if (block_tokens() == 0 || format_ == TraceFormat::Servecast) return;
  const auto ids = static_cast<std::int64_t>(record.prefix.size());
  const std::int64_t blocks = blocks_of(record.input_tokens, block_tokens());
  if (ids == 0)
    ++irregular_["no hash_ids; the prompt shares nothing"];
  else if (ids < blocks)
    ++irregular_["fewer hash_ids than blocks of the prompt; its end shares nothing"];
  else if (ids > blocks)
    ++irregular_["more hash_ids than blocks of the prompt; the rest is left out"];
}

bool Trace::next(TraceRecord& record) {
  while (rows_ < limit_ && reader_->next(record)) {
    ++rows_;
    check_order(record);
    if (record.output_tokens == 0) {
      ++skipped_["no output tokens (a failed request)"];
      continue;
    }
    if (record.input_tokens == 0) {
      throw core::InputError(place(record),
                             "the prompt has 0 tokens; expected at least 1, remove the row or correct it");
    }
    check_prefix(record);
    record.arrival_ns -= first_ns_;
    return true;
  }
  if (rows_ == 0) throw core::InputError(path_, "holds no requests; a trace has at least one");
  std::uint64_t skipped = 0;
  for (const auto& [why, count] : skipped_) skipped += count;
  if (skipped == rows_) throw core::InputError(path_, "holds no usable request: every row has no output tokens");
  return false;
}

}  // namespace servecast::workload
