// The only place that writes to the terminal: results to stdout, diagnostics to stderr. Files are written whole: under
// a temporary name first, so that an interrupted write leaves no half file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace servecast::cli {

void print(std::string_view text);                          // stdout; a failed write throws core::Error
void warn(std::string_view text);                           // stderr, one line
void print_problems(const std::vector<std::string>& lines); // stderr, the first 50
void write_file(const std::string& path, std::string_view text);
// To a file when path is given, else to stdout.
void deliver(const std::string& path, std::string_view text);

}  // namespace servecast::cli
