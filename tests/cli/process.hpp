// Runs the built binary and keeps what it said. Each Workspace is a fresh temporary folder, removed at its end;
// commands run inside it, so relative paths of a test mean files of that folder.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace servecast::test {

struct Outcome {
  int exit_code = -1;
  std::string out;
  std::string err;
};

class Workspace {
 public:
  Workspace();
  ~Workspace();
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  std::string write(const std::string& name, std::string_view text);  // returns name
  std::string read(const std::string& name) const;
  // Runs `servecast ARGUMENTS` through the shell, in the folder.
  Outcome servecast(const std::string& arguments) const;
  // Runs a shell command in the folder, in which `servecast` is the binary; returns its exit code.
  int shell(const std::string& command) const;
  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path folder_;
};

// A small valid scenario in which the first occurrence of `from` is replaced by `to`.
std::string scenario_with(std::string_view from, std::string_view to);
std::string small_scenario();

}  // namespace servecast::test
