// One table on disk that a run adds to, row by row, and that a later run continues. A last line without its end (the
// program was killed while it wrote) is cut off; rows that are there are kept and not measured again. Refused: another
// header, damaged lines, and rows of another device, driver or L2 setting, because a table is of one machine.
#pragma once

#include "core/error.hpp"

#include <cstddef>
#include <fstream>
#include <set>
#include <string>
#include <vector>

namespace servecast::microbench {

// What every row of a file must agree on, as the provenance columns say it.
struct Origin {
  std::string device;
  std::string driver;
  std::string l2;
};

class CsvFile {
 public:
  // Reads what is there, without changing it. Adds to problems what speaks against continuing.
  CsvFile(std::string path, std::vector<std::string> columns, Origin origin, core::Problems& problems);
  bool has(const std::string& key) const { return keys_.contains(key); }
  std::size_t rows() const { return keys_.size(); }
  // Repairs and creates the file as needed, then adds the line. Throws core::Error if the disk refuses.
  void append(const std::string& key, const std::string& line);
  const std::string& path() const { return path_; }

 private:
  void read(core::Problems& problems);
  void check_row(const std::string& line, std::size_t number, core::Problems& problems);
  void open();

  std::string path_;
  std::vector<std::string> columns_;
  Origin origin_;
  std::string header_;
  std::set<std::string> keys_;
  std::size_t whole_ = 0;  // bytes up to the end of the last complete line
  std::ofstream out_;
};

}  // namespace servecast::microbench
