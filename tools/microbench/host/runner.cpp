#include "microbench/host/runner.hpp"

#include "microbench/host/csv_file.hpp"
#include "microbench/host/tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <set>

namespace servecast::microbench {

namespace {

namespace fs = std::filesystem;

std::vector<FamilyId> chosen(const Options& o) {
  if (!o.only.empty()) return o.only;
  std::vector<FamilyId> all;
  for (std::size_t i = 0; i < families().size(); ++i) all.push_back(static_cast<FamilyId>(i));
  return all;
}

class Runner {
 public:
  Runner(Device& device, const Options& options) : device_(device), options_(options) {
    std::error_code error;
    fs::create_directories(options.output, error);
    if (error) throw core::Error(fmt::format("cannot make {}: {}", options.output, error.message()));
    open_files();
  }

  void family(FamilyId id, const std::function<void(const Progress&)>& progress) {
    const auto points = points_of(id, device_.info(), options_.quick);
    Progress p{id, 0, static_cast<std::int64_t>(points.size()), ""};
    for (const Point& point : points) {
      p.point = key(point);
      progress(p);
      one(point);
      ++p.done;
    }
    p.point.clear();
    progress(p);
  }

  Report finish() {
    for (const auto& [id, file] : files_)
      if (file->rows() > 0) report_.files.push_back(file->path());
    std::sort(report_.files.begin(), report_.files.end());
    return std::move(report_);
  }

 private:
  // All at once, so that a folder of another machine is refused before anything is measured.
  void open_files() {
    const DeviceInfo& d = device_.info();
    const std::string gpu = options_.gpu.empty() ? gpu_name(d.name) : options_.gpu;
    core::Problems problems;
    for (const TableId id : all_tables) {
      core::Problems own;
      const fs::path path = fs::path(options_.output) / file_name(id, gpu, options_.stack, d.nccl);
      files_[id] = std::make_unique<CsvFile>(path.string(), columns(id),
                                             Origin{d.name, d.driver, options_.cold ? "cold" : "warm"}, own);
      for (const std::string& line : own.lines()) problems.add("", line);
    }
    problems.raise_if_any();
  }

  void one(const Point& point) {
    CsvFile& file = *files_.at(table_of(point));
    const std::string name = key(point);
    if (file.has(name)) {
      ++report_.kept;
      return;
    }
    const Outcome o = device_.measure(point, Timing{options_.repeats, options_.cold});
    if (!o.wrong.empty()) {
      report_.wrong.push_back(fmt::format("{} ({}): {}", name, o.kernel_source, o.wrong));
    } else if (!o.refused.empty()) {
      ++report_.refused;
      if (reasons_.insert(o.refused).second) report_.refusals.push_back(fmt::format("{}: {}", name, o.refused));
    } else {
      file.append(name, row(point, o, device_.info(), options_.cold));
      ++report_.measured;
    }
  }

  Device& device_;
  const Options& options_;
  std::map<TableId, std::unique_ptr<CsvFile>> files_;
  std::set<std::string> reasons_;
  Report report_;
};

}  // namespace

Report measure_all(Device& device, const Options& options, const std::function<void(const Progress&)>& progress) {
  Runner runner(device, options);
  for (const FamilyId id : chosen(options)) runner.family(id, progress);
  return runner.finish();
}

}  // namespace servecast::microbench
