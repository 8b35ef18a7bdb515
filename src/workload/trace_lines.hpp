// Lines of a trace file, one at a time: plain, gzip or xz (told by the first bytes). Memory is one line and one buffer
// whatever the file's size. Carriage returns, a byte order mark and blank lines are dropped. Throws core::Error when
// the file cannot be read and InputError when its content is no text: binary, invalid UTF-8, damaged compression, a
// Git LFS pointer, a line above 1 MiB.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <streambuf>
#include <string>
#include <string_view>
#include <vector>

namespace servecast::workload {

constexpr std::size_t longest_line = std::size_t{1} << 20;

class TraceLines {
 public:
  explicit TraceLines(const std::string& path);
  // The line stays valid until the next call.
  bool next(std::string_view& line);
  void unread() { again_ = true; }  // next() gives the last line once more
  std::uint64_t number() const { return number_; }
  const std::string& path() const { return path_; }
  std::string place() const;  // "path:line"

 private:
  bool raw(std::string_view& line);
  bool fill();
  void check_text(std::string_view line) const;

  std::string path_;
  bool compressed_ = false;
  std::unique_ptr<std::streambuf> input_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;  // unread bytes are [begin_, end_)
  std::size_t end_ = 0;
  bool done_ = false;
  bool again_ = false;
  std::uint64_t number_ = 0;
  std::string_view last_;
};

}  // namespace servecast::workload
