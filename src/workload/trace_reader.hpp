// The one interface of all trace formats. A reader turns rows into records as they are stamped; what holds for every
// format (order, empty prompts, skipped rows) is applied by Trace.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace servecast::workload {

constexpr std::uint32_t no_session = 0xffffffffu;

struct TraceRecord {
  std::uint64_t line = 0;       // in the file, from 1
  std::int64_t arrival_ns = 0;  // a reader counts from any origin, Trace from the first row of the file
  std::int32_t input_tokens = 0;
  std::int32_t output_tokens = 0;
  std::uint32_t session = no_session;
  std::vector<std::uint64_t> prefix;  // chained ids: id i names blocks 0 to i of the prompt together
};

// Blocks of a prompt, the last one perhaps in part.
constexpr std::int64_t blocks_of(std::int32_t tokens, std::int32_t block_tokens) {
  return (std::int64_t{tokens} + block_tokens - 1) / block_tokens;
}

class TraceReader {
 public:
  virtual ~TraceReader() = default;
  // Reads the next row into record; false at the end. Throws InputError with file:line about a bad row.
  virtual bool next(TraceRecord& record) = 0;
  virtual std::int32_t block_tokens() const { return 0; }        // tokens of a prefix id; 0: the format has none
  virtual std::vector<std::string> notes() const { return {}; }  // what the file holds and the reader leaves out
};

}  // namespace servecast::workload
