// A made-up GPU, tables written to a folder of their own, and GEMM rows that follow the physics exactly.
#pragma once

#include "calibrate/dataset.hpp"
#include "calibrate/fit.hpp"
#include "cost/kernels/physics.hpp"
#include "hardware/gpu.hpp"

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace samples {

using namespace servecast;

inline hardware::Gpu gpu() {
  hardware::Gpu g;
  g.name = "b200";
  g.architecture = "blackwell";
  g.sm_count = 148;
  g.l2_mb = 126;
  g.memory_tb_s = 7.67;
  g.dense = {2250, 4500, 9000, 4500};
  return g;
}

// t0, tk, ec, eb, hs, q, rs
inline cost::kernels::Parameters gemm_theta() { return {5.0, 0.4, 0.6, 0.8, 0.3, 1.5, 100.0}; }

inline double gemm_us(double m, double n, double k) {
  const auto c = cost::kernels::context({}, cost::kernels::machine(gpu()));
  return cost::kernels::physics(c, gemm_theta(), {m, n, k}, false).us;
}

inline calibrate::KeyRows gemm_rows() {
  calibrate::KeyRows out;
  double group = 0;
  for (const double n : {128., 1024., 4096., 16384.})
    for (const double k : {128., 1024., 4096., 16384.}) {
      ++group;
      for (double m = 4; m <= 16384; m *= 2) out.rows.push_back({{m, n, k}, gemm_us(m, n, k), group, 0});
    }
  return out;
}

class Folder {
 public:
  explicit Folder(std::string_view name)
      : path_(std::filesystem::temp_directory_path() / ("servecast_" + std::string(name))) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  std::string file(std::string_view name, std::string_view text) const {
    const auto path = path_ / name;
    std::ofstream(path) << text;
    return path.string();
  }

 private:
  std::filesystem::path path_;
};

inline calibrate::Dataset read(const std::vector<std::string>& files, core::Problems& problems) {
  static const hardware::Gpu known = gpu();
  return calibrate::read_dataset(
      files, {}, [](const std::string& name) { return name == known.name ? &known : nullptr; }, problems);
}

}  // namespace samples
