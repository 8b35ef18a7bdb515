#include "cli/numerics_command.hpp"

#include "cli/output.hpp"
#include "cli/verbs.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace servecast::cli {

namespace {

std::string empty_problem(const std::string& value) {
  return value.empty() ? "is empty; give a value or leave the flag out" : "";
}

template <typename Text>
CLI::Option* text(CLI::App& app, const std::string& name, Text& value, const std::string& help) {
  return app.add_option(name, value, help)->check(empty_problem);
}

}  // namespace

void add_later_verb(CLI::App& app, const std::string& name, const std::string& full, std::function<int()>& verb) {
  CLI::App* later = app.add_subcommand(name, "not in this version");
  later->group("");
  later->prefix_command();
  later->set_help_flag();
  later->callback([&verb, full] {
    verb = [full] {
      warn(fmt::format("servecast {}: not in this version", full));
      return int{exit_input};
    };
  });
}

void add_numerics(CLI::App& app, NumericsOptions& o, std::function<int()>& verb) {
  CLI::App* top = app.add_subcommand("numerics", "number formats on distributions or a tensor file");
  top->require_subcommand(1);
  CLI::App* one = top->add_subcommand("formats", "bits, noise and flushed values of every format");
  text(*one, "--distribution", o.distributions, "gaussian, laplace, student-t or student-t:NU (repeatable)")
      ->take_all()
      ->allow_extra_args(false);
  text(*one, "--outliers", o.outliers, "SHARE:FACTOR: that share of columns is that much larger, e.g. 0.01:20");
  text(*one, "--file", o.file, "tensor to use instead: .npy, or raw values with --dtype and --shape");
  text(*one, "--dtype", o.dtype, "of a raw file: float32, bfloat16 or float16, little-endian");
  text(*one, "--shape", o.shape, "of a raw file, e.g. 128,4096");
  text(*one, "--format", o.formats, "only this format (repeatable)")->take_all()->allow_extra_args(false);
  one->add_option("--elements", o.elements, "values to draw, in rows of 4,096; 1,048,576 without it")
      ->check(CLI::Range(std::int64_t{2}, std::int64_t{1} << 26));
  one->add_option("--seed", o.seed, "seed of every random stream");
  one->add_flag("--json", o.json, "machine-readable output");
  one->callback([&o, &verb] { verb = [&o] { return numerics_formats(o); }; });
  for (const std::string name : {"acceptance", "routing"}) add_later_verb(*top, name, "numerics " + name, verb);
}

}  // namespace servecast::cli
