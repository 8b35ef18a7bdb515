#include "workload/trace_lines.hpp"

#include "config/utf8.hpp"
#include "core/error.hpp"

#include <boost/iostreams/filter/gzip.hpp>
#include <boost/iostreams/filter/lzma.hpp>
#include <boost/iostreams/filtering_streambuf.hpp>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <ios>
#include <system_error>

namespace servecast::workload {

namespace {

constexpr std::size_t chunk = std::size_t{1} << 16;

std::string reason(int error) { return std::generic_category().message(error); }

std::unique_ptr<std::filebuf> open_file(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error))
    throw core::Error(fmt::format("cannot read {}: it is a folder", path));
  auto file = std::make_unique<std::filebuf>();
  errno = 0;
  if (!file->open(path, std::ios::in | std::ios::binary)) {
    throw core::Error(fmt::format("cannot read {}: {}", path, reason(errno)));
  }
  return file;
}

enum class Packing { None, Gzip, Xz };

Packing packing_of(std::streambuf& file) {
  std::array<char, 6> head{};
  const std::streamsize got = file.sgetn(head.data(), head.size());
  file.pubseekpos(0, std::ios::in);
  if (got >= 2 && std::memcmp(head.data(), "\x1f\x8b", 2) == 0) return Packing::Gzip;
  if (got == 6 && std::memcmp(head.data(),
                              "\xfd"
                              "7zXZ\0",
                              6) == 0)
    return Packing::Xz;
  return Packing::None;
}

// Eight bytes that are all in 1 to 127: no high bit, and subtracting one from each borrows nowhere.
bool plain_ascii(const char* text) {
  std::uint64_t word = 0;
  std::memcpy(&word, text, sizeof word);
  constexpr std::uint64_t high_bits = 0x8080808080808080u;
  return ((word | (word - 0x0101010101010101u)) & high_bits) == 0;
}

// Index of the first byte that is no text (NUL counts as none), or npos.
std::size_t first_bad_byte(std::string_view text) {
  std::size_t i = 0;
  while (i < text.size()) {
    if (i + 8 <= text.size() && plain_ascii(text.data() + i)) {
      i += 8;
      continue;
    }
    const std::size_t length = text[i] == '\0' ? 0 : config::utf8_character(text.substr(i));
    if (length == 0) return i;
    i += length;
  }
  return std::string_view::npos;
}

// A file and the decompressor that reads from it.
class Unpacked final : public boost::iostreams::filtering_streambuf<boost::iostreams::input> {
 public:
  Unpacked(std::unique_ptr<std::filebuf> file, Packing packing) : file_(std::move(file)) {
    if (packing == Packing::Gzip) push(boost::iostreams::gzip_decompressor());
    if (packing == Packing::Xz) push(boost::iostreams::lzma_decompressor());
    push(*file_);
  }
  Unpacked(const Unpacked&) = delete;
  Unpacked& operator=(const Unpacked&) = delete;
  ~Unpacked() override { reset(); }  // before the file it reads from goes

 private:
  std::unique_ptr<std::filebuf> file_;
};

}  // namespace

TraceLines::TraceLines(const std::string& path) : path_(path), buffer_(chunk) {
  auto file = open_file(path);
  const Packing packing = packing_of(*file);
  compressed_ = packing != Packing::None;
  if (!compressed_ && (path.ends_with(".gz") || path.ends_with(".xz"))) {
    throw core::InputError(path, "is not compressed as its name says; rename it or fetch it again");
  }
  if (compressed_) {
    input_ = std::make_unique<Unpacked>(std::move(file), packing);
  } else {
    input_ = std::move(file);
  }
}

std::string TraceLines::place() const { return fmt::format("{}:{}", path_, number_); }

// Moves unread bytes to the front and reads more behind them; the buffer grows up to one longest line.
bool TraceLines::fill() {
  if (done_) return false;
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (end_ == buffer_.size()) buffer_.resize(buffer_.size() * 2);
  try {
    const std::streamsize got =
        input_->sgetn(buffer_.data() + end_, static_cast<std::streamsize>(buffer_.size() - end_));
    if (got > 0) end_ += static_cast<std::size_t>(got);
    done_ = got <= 0;
  } catch (const std::ios_base::failure& failure) {
    if (compressed_) {
      throw core::InputError(fmt::format("{}:{}", path_, number_ + 1),
                             "compressed data is damaged or cut short; fetch the file again");
    }
    throw core::Error(fmt::format("cannot read {}: {}", path_, failure.what()));
  }
  return !done_;
}

// A line without its end; false at the end of the file.
bool TraceLines::raw(std::string_view& line) {
  std::size_t searched = 0;
  while (true) {
    const char* start = buffer_.data() + begin_;
    const std::size_t size = end_ - begin_;
    const void* newline = std::memchr(start + searched, '\n', size - searched);
    const std::size_t length = newline ? static_cast<std::size_t>(static_cast<const char*>(newline) - start) : size;
    if (length > longest_line) {
      throw core::InputError(fmt::format("{}:{}", path_, number_ + 1),
                             "the line is longer than 1 MiB; a trace has one request a line");
    }
    if (newline) {
      line = {start, length};
      begin_ += length + 1;
      return true;
    }
    searched = size;
    if (!fill()) break;
  }
  if (begin_ == end_) return false;
  line = {buffer_.data() + begin_, end_ - begin_};
  begin_ = end_;
  return true;
}

void TraceLines::check_text(std::string_view line) const {
  const std::size_t bad = first_bad_byte(line);
  if (bad == std::string_view::npos) return;
  const unsigned byte = static_cast<unsigned char>(line[bad]);
  throw core::InputError(place(), fmt::format("byte {} of the line is 0x{:02x}: {}; a trace is UTF-8 text", bad + 1,
                                              byte, byte == 0 ? "the file is binary" : "not valid UTF-8"));
}

bool TraceLines::next(std::string_view& line) {
  if (again_) {
    again_ = false;
    line = last_;
    return true;
  }
  do {
    if (!raw(line)) return false;
    ++number_;
    if (number_ == 1 && line.starts_with("\xEF\xBB\xBF")) line.remove_prefix(3);
    if (line.ends_with('\r')) line.remove_suffix(1);
    check_text(line);
  } while (line.find_first_not_of(" \t\r") == std::string_view::npos);
  if (line.starts_with("version https://git-lfs.github.com/spec")) {
    throw core::InputError(path_, "is a Git LFS pointer, not the trace; run `git lfs pull` in its repository");
  }
  last_ = line;
  return true;
}

}  // namespace servecast::workload
