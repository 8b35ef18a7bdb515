// KV capacity that engines logged at start, as cases of `fit`.
#include "fidelity/doubtful.hpp"
#include "fidelity/kv_rows.hpp"
#include "fidelity/rows.hpp"

#include <fmt/format.h>

namespace servecast::fidelity {

namespace {

std::string reason_of(const std::string& refused) {
  const std::size_t end = refused.find(" (");
  return "missing: " + refused.substr(0, end);
}

void add_measure(Case& out, const char* metric, double measured) {
  if (measured > 0) out.measures.push_back({metric, measured, {}, std::string(start_log_doubt(out.id))});
}

}  // namespace

Case kv_case(const CsvRow& row, const RowContext& context) {
  Case out;
  const KvRow kv = kv_row(row, context.stacks);
  out.id = kv.id;
  out.model = text_of(row, "model");
  out.gpu = text_of(row, "gpu");
  out.engine = lower_case(text_of(row, "engine") + " " + text_of(row, "version"));
  if (!kv.refused.empty()) {
    out.refuse(reason_of(kv.refused), kv.refused);
    return out;
  }
  out.match = kv.match;
  out.stack = kv.input.stack.name;
  out.gpus = kv.input.tensor;
  out.shape = fmt::format("tp {}", kv.input.tensor);
  out.fit = kv.input;
  // One figure a row: what the log states most exactly.
  if (kv.blocks > 0)
    add_measure(out, "kv_blocks", kv.blocks);
  else if (kv.tokens > 0)
    add_measure(out, "kv_tokens", kv.tokens);
  else
    add_measure(out, "kv_gib", kv.kv_gib);
  if (out.measures.empty()) out.refuse("no measured value");
  return out;
}

}  // namespace servecast::fidelity
