// A trace file of any format, streamed: opens it, finds the format and applies the rules that hold for all. Times count
// from the first row. Rows without output tokens are skipped and counted (failed requests). Throws InputError for an
// empty trace, prompts of no tokens, times that fall or lie beyond the longest run.
#pragma once

#include "workload/config.hpp"
#include "workload/trace_reader.hpp"

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <string>

namespace servecast::workload {

class Trace {
 public:
  explicit Trace(const std::string& path, TraceFormat format = TraceFormat::Auto,
                 std::uint64_t limit_rows = std::numeric_limits<std::uint64_t>::max());
  // The next request, in order of arrival; false at the end.
  bool next(TraceRecord& record);
  TraceFormat format() const { return format_; }
  std::int32_t block_tokens() const { return reader_->block_tokens(); }  // 0: no prefix ids
  std::uint64_t rows() const { return rows_; }                           // read so far, skipped ones included
  const std::map<std::string, std::uint64_t>& skipped() const { return skipped_; }
  // Rows that were taken although something in them is amiss, by what it is and what was made of it.
  const std::map<std::string, std::uint64_t>& irregular() const { return irregular_; }
  std::vector<std::string> notes() const { return reader_->notes(); }
  const std::string& path() const { return path_; }

 private:
  void check_order(const TraceRecord& record);
  void check_prefix(const TraceRecord& record);
  std::string place(const TraceRecord& record) const;

  std::string path_;
  TraceFormat format_;
  std::uint64_t limit_;
  std::unique_ptr<TraceReader> reader_;
  std::uint64_t rows_ = 0;
  std::map<std::string, std::uint64_t> skipped_;
  std::map<std::string, std::uint64_t> irregular_;
  std::int64_t first_ns_ = 0;
  std::int64_t last_ns_ = 0;
};

}  // namespace servecast::workload
