#include "cli/output.hpp"

#include "config/utf8.hpp"
#include "core/error.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <system_error>
#include <unistd.h>

namespace servecast::cli {

namespace {

constexpr std::size_t most_lines = 50;

}  // namespace

// The new descriptor is the lowest free one, hence the very one that is missing; it cannot be written to.
void hold_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(stream, F_GETFD) == -1 && open("/dev/null", O_RDONLY) == -1) return;
}

void print(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
    throw core::Error(fmt::format("cannot write to standard output: {}", std::strerror(errno)));
}

void warn(std::string_view text) {
  const std::string line = config::brief(text) + "\n";
  std::fwrite(line.data(), 1, line.size(), stderr);
}

bool diagnostics_lost() { return std::ferror(stderr) != 0; }

void print_problems(const std::vector<std::string>& lines) {
  for (std::size_t i = 0; i < lines.size() && i < most_lines; ++i) warn(lines[i]);
  if (lines.size() > most_lines) warn(fmt::format("and {} more", lines.size() - most_lines));
}

std::exception_ptr saved(const std::function<void()>& save) {
  try {
    save();
    return nullptr;
  } catch (const core::Error&) {
    return std::current_exception();
  }
}

void write_file(const std::string& name, std::string_view text) {
  // A link's file is replaced, not the link; what is no regular file (a device, a pipe) is written to, not replaced.
  std::error_code ignored;
  const std::filesystem::path target = std::filesystem::is_symlink(name, ignored)
                                           ? std::filesystem::weakly_canonical(name, ignored)
                                           : std::filesystem::path(name);
  const std::string path = target.string();
  const bool in_place = std::filesystem::exists(target, ignored) &&
                        !std::filesystem::is_regular_file(target, ignored) &&
                        !std::filesystem::is_directory(target, ignored);
  const std::string partial = in_place ? path : path + ".partial";
  std::FILE* file = std::fopen(partial.c_str(), "wb");
  const auto fail = [&] { throw core::Error(fmt::format("cannot write {}: {}", path, std::strerror(errno))); };
  if (file == nullptr) fail();
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const bool closed = std::fclose(file) == 0;
  if (!closed || !written || (!in_place && std::rename(partial.c_str(), path.c_str()) != 0)) {
    const int reason = errno;
    if (!in_place) std::remove(partial.c_str());
    errno = reason;
    fail();
  }
}

void deliver(const std::string& path, std::string_view text) {
  if (path.empty())
    print(text);
  else
    write_file(path, text);
}

}  // namespace servecast::cli
