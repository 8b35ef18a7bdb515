// Small traces for the tests: written to a file of their own, and the shared data where it is present.
#pragma once

#include "core/error.hpp"
#include "workload/trace.hpp"

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

namespace servecast::workload {

// A file with this content, removed at the end of the test.
class TraceFile {
 public:
  explicit TraceFile(const std::string& content, const std::string& suffix = ".txt") {
    static std::atomic<int> serial{0};
    path_ = (std::filesystem::temp_directory_path() /
             ("servecast_workload_" + std::to_string(::getpid()) + "_" + std::to_string(serial++) + suffix))
                .string();
    std::ofstream(path_, std::ios::binary) << content;
  }
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;
  ~TraceFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

inline std::vector<TraceRecord> read_all(const std::string& path, TraceFormat format = TraceFormat::Auto) {
  Trace trace(path, format);
  std::vector<TraceRecord> records;
  for (TraceRecord record; trace.next(record);) records.push_back(record);
  return records;
}

// The message of the InputError that reading ends with, without the folder; empty when it succeeds.
inline std::string complaint(const std::string& content, TraceFormat format = TraceFormat::Auto,
                             const std::string& suffix = ".txt") {
  const TraceFile file(content, suffix);
  try {
    read_all(file.path(), format);
  } catch (const core::InputError& error) {
    const std::string& line = error.lines().front();
    return line.starts_with(file.path()) ? line.substr(file.path().size()).insert(0, 1, 'F') : line;
  }
  return "";
}

// Two rows of azure, packed; in hexadecimal.
inline constexpr std::string_view gzip_of_two_rows =
    "1f8b08000000000002030bf1f4750d0e71f40dd071cecf2b49ad2809c9cf4ecd2bd6714fcd4b2d4a2c494d81f079b98c0c8c"
    "8c750d0d750dcd140c2dac0ccdad0c8cf52ccd2d2dcd0c0c744c2c0c2c740c0db02932d1333036042b3236b430d0b10000a8"
    "31a3a470000000";
inline constexpr std::string_view xz_of_two_rows =
    "fd377a585a000004e6d6b4460200210116000000742fe5a3e0006f00575d002a1245d986d08532dc1f0721b8e7326b5af3d9"
    "e65b85dce86888c88c03c3b7949b0ed8e33027d7b11a9a37bac75d4b3bab175631978fb2bc6532d63c2da13b959985db10ff"
    "47b3110ee716956460dd70cdb9a04fb54c0000001e7241061f12fe850001737022ee91741fb6f37d010000000004595a";

inline std::string bytes(std::string_view hexadecimal) {
  std::string result;
  for (std::size_t i = 0; i + 1 < hexadecimal.size(); i += 2) {
    result += static_cast<char>(std::stoi(std::string(hexadecimal.substr(i, 2)), nullptr, 16));
  }
  return result;
}

// A file of the shared data, or none where the data is absent.
inline std::optional<std::string> shared_trace(const std::string& name) {
  const char* root = std::getenv("SERVECAST_DATA");
  const std::filesystem::path base = root ? root : std::filesystem::path(SERVECAST_SOURCE_DIR) / ".." / "shared";
  for (const char* folder : {"data/traces", "traces"}) {
    if (std::filesystem::exists(base / folder / name)) return (base / folder / name).string();
  }
  return std::nullopt;
}

}  // namespace servecast::workload
