// What the command line says, as plain structs: commands.cpp fills them, the verbs read them. No CLI library appears
// here. Also the exit codes, the same for every verb.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace servecast::cli {

enum ExitCode : int {
  exit_done = 0,
  exit_outside = 1,     // a file or a disk
  exit_input = 2,       // usage or input
  exit_infeasible = 3,  // does not fit, target unreachable
  exit_failed = 4,      // a threshold failed
  exit_no_data = 5,
  exit_bug = 70,
  exit_hung_up = 129,
  exit_interrupted = 130
};

// Flags that every verb on a scenario takes.
struct Common {
  std::string scenario;           // path, or the name of a built-in scenario
  std::vector<std::string> sets;  // "/json/pointer=value"
  std::optional<std::uint32_t> seed;
  bool json = false;
  std::string out;  // folder for files, empty: none
  int threads = 0;  // 0: as many as the machine has; results never depend on it
};

struct ExplainOptions {
  Common common;
  // Without both decode and prefill, a few typical shapes are shown.
  std::optional<int> decode;   // sequences in decode
  std::optional<int> context;  // tokens in cache per decoding sequence
  std::optional<int> prefill;  // prompt tokens in the step
};

struct DescribeOptions {
  std::string kind;
  std::string name;
  bool json = false;
};

struct CalibrateOptions {
  std::vector<std::string> files;  // operator tables
  std::string out;                 // folder of a stack
  std::string gpu;                 // override what the file names say; of show: filters
  std::string stack;
  std::string profile;  // kernel profile file to score; empty: the built-in one
  std::string note;     // stored in the profile
  bool cross_validate = false;
  int threads = 0;
  bool markdown = false;
  bool quick = false;  // no cross-validation while fitting
  bool monotone = false;
  bool json = false;
};

struct ValidateOptions {
  std::string file;
  std::vector<std::string> limits;  // "METRIC=PERCENT"
  int rows = 10;                    // furthest off
  std::int64_t scenario_of = 0;  // line of the file; 0: validate
  bool plain_clients = false;
  int threads = 0;
  bool json = false;
  bool markdown = false;
};

struct CapacityOptions {
  Common common;
  bool gpus = false;  // fewest replicas instead of the highest rate
  double tolerance = 0.02;
};

struct CompareOptions {
  std::string a, b;
  std::vector<std::string> sets, sets_b;
  int replications = 5;
  int threads = 0;
  bool json = false;
};

struct NumericsOptions {
  std::vector<std::string> distributions;  // "gaussian", "student-t:5"; empty: the usual ones
  std::string outliers;                    // "SHARE:FACTOR"
  std::vector<std::string> formats;        // names; empty: all
  std::string file;                        // .npy, or raw values with dtype and shape
  std::string dtype;
  std::string shape;  // "128,4096"
  std::optional<std::int64_t> elements;
  std::uint32_t seed = 1;
  bool json = false;
};

struct ImportOptions {
  std::string file;
  std::string format;  // of a trace; empty: told by its first line
  std::string name;    // of an imported model
  std::string out;     // file to write instead of stdout
  bool json = false;
};

}  // namespace servecast::cli
