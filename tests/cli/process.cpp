#include "process.hpp"

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>

namespace servecast::test {

Workspace::Workspace() {
  std::string pattern = (std::filesystem::temp_directory_path() / "servecast-cli-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("cannot make a temporary folder");
  folder_ = pattern;
}

Workspace::~Workspace() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

std::string Workspace::write(const std::string& name, std::string_view text) {
  std::ofstream(folder_ / name, std::ios::binary) << text;
  return name;
}

std::string Workspace::read(const std::string& name) const {
  std::ostringstream text;
  text << std::ifstream(folder_ / name, std::ios::binary).rdbuf();
  return text.str();
}

int Workspace::shell(const std::string& command) const {
  const std::string all = "cd '" + folder_.string() + "'; servecast() { '" SERVECAST_BINARY "' \"$@\"; }; " + command;
  const int status = std::system(all.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

Outcome Workspace::servecast(const std::string& arguments) const {
  const int code = shell("servecast " + arguments + " > stdout.txt 2> stderr.txt < /dev/null");
  return {code, read("stdout.txt"), read("stderr.txt")};
}

std::string small_scenario() {
  return R"({
  "version": 1,
  "name": "small",
  "model": "llama-3.1-8b",
  "cluster": { "node": "hgx-h100", "nodes": 1 },
  "pools": [ { "name": "serve", "replicas": 2, "stack": "vllm-0.19", "parallel": { "tensor": 1 },
               "engine": { "max_model_len": 8192, "max_num_batched_tokens": 2048, "max_num_seqs": 64 } } ],
  "workload": {
    "arrivals": { "process": "poisson", "rate_per_s": 10 },
    "input_tokens": { "distribution": "uniform", "min": 100, "max": 1000 },
    "output_tokens": { "distribution": "uniform", "min": 10, "max": 100 },
    "requests": 200
  }
}
)";
}

std::string scenario_with(std::string_view from, std::string_view to) {
  std::string text = small_scenario();
  const auto at = text.find(from);
  if (at == std::string::npos) throw std::runtime_error("the small scenario has no " + std::string(from));
  return text.replace(at, from.size(), to);
}

}  // namespace servecast::test
