#include "report/output_folder.hpp"

#include "core/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <system_error>
#include <utility>

namespace servecast::report {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view scenario_file = "resolved.json";
constexpr std::string_view last_file = "result.json";
// Whatever a verb may write, in the order in which it goes: without result.json a folder claims nothing.
constexpr std::string_view our_files[] = {last_file,  "requests.csv",  "timeline.csv",
                                          "fit.json", "capacity.json", scenario_file};
constexpr auto run_files = std::span(our_files).first<3>();
constexpr std::string_view unfinished = ".partial";

std::string content(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

OutputFile::OutputFile(std::string path) : path_(std::move(path)), temporary_(path_ + std::string(unfinished)) {
  std::error_code ignored;
  if (fs::is_directory(path_, ignored)) throw core::Error(fmt::format("cannot write {}: it is a folder", path_));
  file_.reset(std::fopen(temporary_.c_str(), "wb"));
  if (!file_) fail(errno);
}

OutputFile::~OutputFile() {
  file_.reset();
  if (!committed_) std::remove(temporary_.c_str());
}

void OutputFile::fail(int code) const {
  throw core::Error(fmt::format("cannot write {}: {}", path_, std::generic_category().message(code)));
}

void OutputFile::write(std::string_view bytes) {
  SERVECAST_ENSURE(file_ != nullptr, "{} is written after it was closed", path_);
  if (!bytes.empty() && std::fwrite(bytes.data(), 1, bytes.size(), file_.get()) != bytes.size()) fail(errno);
}

void OutputFile::close() {
  if (!file_) return;
  if (std::fclose(file_.release()) != 0) fail(errno);
}

void OutputFile::commit() {
  close();
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) fail(errno);
  committed_ = true;
}

OutputFolder::OutputFolder(std::string path) : path_(std::move(path)) {
  std::error_code code;
  if (fs::exists(path_, code) && !fs::is_directory(path_, code)) {
    throw core::Error(fmt::format("cannot write into {}: it is a file; name a folder", path_));
  }
  fs::create_directories(path_, code);
  if (code) throw core::Error(fmt::format("cannot create the folder {}: {}", path_, code.message()));
  for (const std::string_view name : our_files)
    if (fs::is_directory(at(name), code)) throw core::Error(fmt::format("cannot write {}: it is a folder", at(name)));
}

std::string OutputFolder::at(std::string_view name) const { return (fs::path(path_) / name).string(); }

void OutputFolder::remove(std::string_view name) const {
  std::error_code code;
  fs::remove(at(name), code);
  if (code) throw core::Error(fmt::format("cannot remove {}: {}", at(name), code.message()));
}

void OutputFolder::begin(std::string_view resolved) {
  if (content(at(scenario_file)) != resolved) {
    for (const std::string_view name : our_files) {
      remove(name);
      remove(fmt::format("{}{}", name, unfinished));
    }
  }
  write(std::string(scenario_file), resolved);
  commit();
}

OutputFile& OutputFolder::create(const std::string& name) { return files_.emplace_back(at(name)); }

void OutputFolder::commit() {
  for (OutputFile& file : files_) file.close();
  const std::string last = at(last_file);
  const auto is_last = [&last](const OutputFile& file) { return file.path() == last; };
  if (std::any_of(files_.begin(), files_.end(), is_last)) {
    // Rows of an earlier run must not stand beside newer ones, not even for a moment.
    for (const std::string_view name : run_files) remove(name);
  }
  for (OutputFile& file : files_) {
    if (!is_last(file)) file.commit();
  }
  for (OutputFile& file : files_) {
    if (is_last(file)) file.commit();
  }
  files_.clear();
}

}  // namespace servecast::report
