// The only place that writes to the terminal: results to stdout, diagnostics to stderr. Files are written whole: under
// a temporary name first, so that an interrupted write leaves no half file.
#pragma once

#include <exception>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace servecast::cli {

// Standard streams that the parent process closed stay closed to us: without this, the next file opened would take
// their place and receive what is meant for them.
void hold_standard_streams();

void print(std::string_view text);                           // stdout; a failed write throws core::Error
void warn(std::string_view text);                            // stderr; shows what is long in brief
void print_problems(const std::vector<std::string>& lines);  // stderr, the first 50
// A warning or an error could not be written: the message is lost, but not the exit code.
bool diagnostics_lost();
// Saves files. An error is returned instead of thrown, so that the answer can be printed first; null: saved.
std::exception_ptr saved(const std::function<void()>& save);
void write_file(const std::string& path, std::string_view text);
// To a file when path is given, else to stdout.
void deliver(const std::string& path, std::string_view text);

}  // namespace servecast::cli
