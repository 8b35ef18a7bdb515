// The files a run writes: for each kind of point its table, in the operator tables' schema (docs/models/kernels.md).
// The shape columns of a row are its key; kernel_source stands before them, the value and its provenance behind.
#pragma once

#include "microbench/host/device.hpp"
#include "microbench/host/points.hpp"
#include "microbench/host/statistics.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace servecast::microbench {

enum class TableId : std::uint8_t {
  Machine,
  Gemm,
  Generation,
  Context,
  Verify,
  ComputeScale,
  ScaleMatrix,
  Moe,
  Nccl,
  AllReduce
};
inline constexpr TableId all_tables[] = {
    TableId::Machine,      TableId::Gemm,        TableId::Generation, TableId::Context, TableId::Verify,
    TableId::ComputeScale, TableId::ScaleMatrix, TableId::Moe,        TableId::Nccl,    TableId::AllReduce};

TableId table_of(const Point& point);
std::vector<std::string> columns(TableId table);
// Columns behind the value, in every table.
inline constexpr std::string_view provenance[] = {"samples", "spread",       "device",           "driver",
                                                  "l2",      "sm_clock_mhz", "memory_clock_mhz", "power_w"};

// "b200__microbench-1__gemm_perf.csv"; NCCL's own tables carry NCCL's version as their stack.
std::string file_name(TableId table, const std::string& gpu, const std::string& stack, const std::string& nccl);

// The shape fields, comma-separated: equal for equal points only.
std::string key(const Point& point);
// One line without its end. Requires: outcome has samples.
std::string row(const Point& point, const Outcome& outcome, const DeviceInfo& device, bool cold);

// The GPU profile's name for what the driver calls a device: "NVIDIA H100 80GB HBM3" is "h100". Unknown names become
// lower case with dashes.
std::string gpu_name(std::string_view device);

}  // namespace servecast::microbench
