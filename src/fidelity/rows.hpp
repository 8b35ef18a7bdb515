// Rows of measured files as cases: columns read, names mapped, the scenario built in memory. A row that cannot be
// expressed is refused with the reason; a figure of another kind is context. Nothing is simulated here.
#pragma once

#include "fidelity/csv.hpp"
#include "fidelity/measured.hpp"
#include "scenario/stack.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace servecast::fidelity {

// Told apart by columns: closed loops state ttft_ms and tpot_ms; published figures a metric, a value and a scenario
// (offline ones are predicted); KV capacity the blocks and tokens that an engine logged.
enum class Kind : std::uint8_t { ServingClosedLoop, Published, KvCapacity };
inline constexpr std::string_view kind_names[] = {"serving closed loop", "maximum throughput", "kv capacity"};
constexpr std::span<const std::string_view> names_of(Kind) { return kind_names; }

// Throws core::InputError when the header is none of them.
Kind kind_of(const CsvTable& table, const std::string& place);

struct RowContext {
  std::span<const scenario::Stack> stacks;
  bool series_clients = true;  // apply client_settings()
};

Case serving_case(const CsvRow& row, const RowContext& context);
Case published_case(const CsvRow& row, const RowContext& context);
Case kv_case(const CsvRow& row, const RowContext& context);

// One case for each row, in order; those that repeat an earlier one (equal keys, values within 0.1 %) are duplicates.
std::vector<Case> cases_of(const CsvTable& table, Kind kind, const RowContext& context);

// tp=4;pp=1;attn_dp=None;moe_tp=1;moe_ep=4 -> sizes; None and 0 read as 1, "ep" and "dp" as moe_ep and attn_dp.
struct Sizes {
  std::int32_t tensor = 0;  // 0: not stated
  std::int32_t pipeline = 1;
  std::int32_t data = 1;
  std::int32_t expert_tensor = 1;
  std::int32_t expert = 1;
};
Sizes sizes_of(std::string_view text);

}  // namespace servecast::fidelity
