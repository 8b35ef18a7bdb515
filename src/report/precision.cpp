#include "report/precision.hpp"

#include "core/units.hpp"
#include "report/figures.hpp"
#include "report/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace servecast::report {
namespace {

std::vector<metrics::PrecisionBlocks> joined(const std::vector<metrics::PrecisionBlocks>& blocks) {
  std::vector<metrics::PrecisionBlocks> out;
  for (const metrics::PrecisionBlocks& b : blocks) {
    if (out.empty() || out.back().format != b.format) {
      out.push_back(b);
      continue;
    }
    out.back().count += b.count;
    out.back().quality_db = std::min(out.back().quality_db, b.quality_db);
  }
  return out;
}

void add_variant(Table& table, const metrics::PrecisionVariant& v) {
  table.row({v.format.empty() ? "as chosen" : fmt::format("all {}", v.format), core::bytes_text(v.weights_bytes),
             v.decode_step_us ? figure(*v.decode_step_us, "us") : ""});
}

void write_variant(config::JsonWriter& json, const metrics::PrecisionVariant& v) {
  json.value("weights_bytes", v.weights_bytes);
  if (v.decode_step_us) json.value("decode_step_us", *v.decode_step_us);
}

}  // namespace

std::string precision_text(const metrics::PrecisionUse& use) {
  Table blocks({{"MLP and experts of block", Align::Left, 26}, {"format", Align::Left}, {"least dB"}});
  for (const metrics::PrecisionBlocks& b : joined(use.blocks))
    blocks.row({b.count > 1 ? fmt::format("{} to {}", b.first, b.first + b.count - 1) : fmt::format("{}", b.first),
                b.format, figure(b.quality_db)});
  const bool speed = use.chosen.decode_step_us.has_value();
  Table variants({{"", Align::Left, 26}, {"weights"}, {speed ? "decode step" : ""}});
  add_variant(variants, use.chosen);
  for (const metrics::PrecisionVariant& v : use.uniform) add_variant(variants, v);
  const std::string head = fmt::format("Precision ({}, at least {:g} dB; values: {})", use.policy, use.quality_floor_db,
                                       printable(use.statistics));
  return fmt::format("  {}\n{}\n{}", fmt::join(wrap(head, terminal_width - 2), "\n  "), blocks.text(), variants.text());
}

void write_precision(config::JsonWriter& json, const metrics::PrecisionUse& use) {
  json.begin_object("precision");
  json.value("policy", use.policy);
  json.value("quality_floor_db", use.quality_floor_db);
  json.value("statistics", use.statistics);
  json.value("assumed", use.assumed);
  json.begin_array("blocks");
  for (const metrics::PrecisionBlocks& b : use.blocks) {
    json.begin_object();
    json.value("first", b.first);
    json.value("count", b.count);
    json.value("format", b.format);
    json.value("quality_db", b.quality_db);
    json.end_object();
  }
  json.end_array();
  json.begin_object("chosen");
  write_variant(json, use.chosen);
  json.end_object();
  json.begin_object("uniform");
  for (const metrics::PrecisionVariant& v : use.uniform) {
    json.begin_object(v.format);
    write_variant(json, v);
    json.end_object();
  }
  json.end_object();
  json.end_object();
}

}  // namespace servecast::report
