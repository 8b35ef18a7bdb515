#include "report/output_folder.hpp"

#include "core/error.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

namespace servecast::report {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view last_file = "result.json";

}  // namespace

OutputFile::OutputFile(std::string path) : path_(std::move(path)), temporary_(path_ + ".partial") {
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
}

OutputFile& OutputFolder::create(const std::string& name) {
  return files_.emplace_back((fs::path(path_) / name).string());
}

void OutputFolder::commit() {
  for (OutputFile& file : files_) file.close();
  const std::string last = (fs::path(path_) / last_file).string();
  std::remove(last.c_str());  // an older result must not stand beside newer rows
  for (OutputFile& file : files_) {
    if (file.path() != last) file.commit();
  }
  for (OutputFile& file : files_) {
    if (file.path() == last) file.commit();
  }
  files_.clear();
}

}  // namespace servecast::report
