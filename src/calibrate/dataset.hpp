// Measured kernels ready to fit: rows by key, duplicates averaged, and what was left out of each file and why. All of
// one GPU. Rows keep the group that cross-validation holds out as a whole.
#pragma once

#include "calibrate/operator_table.hpp"
#include "core/error.hpp"
#include "cost/kernels/profile.hpp"
#include "hardware/gpu.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace servecast::calibrate {

using cost::kernels::Features;
using cost::kernels::Key;

struct Observation {
  Features x{};
  double us = 0;
  double group = 0;  // number of the key group, see group_of()
  double curve = 0;  // MoE: rows that differ in tokens only
};

// What rows of one MoE curve share: hidden, inter, top k, experts, tensor and expert parallelism, exponent of the
// routing.
using MoeCurve = std::array<double, 7>;

struct KeyRows {
  Key key;
  std::vector<Observation> rows;
  std::map<double, MoeCurve> curves;  // by Observation::curve
};

// A number of the machine rather than of a kernel (bandwidths, latencies, watts): shown beside its profile, never
// fitted.
struct MachineRow {
  std::string quantity;
  std::string unit;
  double detail = 0;  // which of several: a peer, a group of SMs
  double bytes = 0;   // size of the transfer or working set; 0: has none
  double value = 0;
};

struct Dataset {
  std::string gpu;
  std::string stack;  // of the first table that is not of a communication library
  std::vector<KeyRows> keys;
  std::vector<cost::kernels::Curve> curves;
  std::vector<MachineRow> machine;
  std::vector<cost::kernels::Source> sources;
  std::vector<std::string> warnings;
};

struct DatasetOptions {
  std::string gpu;  // overrides what the file names say
  std::string stack;
  bool keep_flagged = false;  // also rows that a quality flag excludes (to score what a fit ignores)
};

// Gives the GPU profile of a name, or adds to the problems.
using FindGpu = std::function<const hardware::Gpu*(const std::string& name)>;

// Refuses, all at once: unknown tables, missing columns, files of several GPUs, files without one usable row.
Dataset read_dataset(const std::vector<std::string>& paths, const DatasetOptions& options, const FindGpu& find_gpu,
                     core::Problems& problems);

}  // namespace servecast::calibrate
