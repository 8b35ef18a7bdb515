#include "cli/commands.hpp"

#include "cli/help.hpp"
#include "cli/numerics_command.hpp"
#include "cli/output.hpp"
#include "cli/verbs.hpp"
#include "config/closest.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <array>
#include <cctype>
#include <functional>
#include <sstream>

namespace servecast::cli {

namespace {

constexpr std::string_view about =
    "servecast forecasts how a GPU cluster serves large language models.\n"
    "It simulates a JSON scenario (model, hardware, engine, traffic, targets) event\nby event.\n\n"
    "  servecast run quickstart            simulate a built-in scenario\n"
    "  servecast init quickstart > my.json start from a commented one\n"
    "  servecast run my.json --set /workload/arrivals/rate_per_s=40\n";
constexpr std::string_view exit_codes =
    "Exit codes: 0 done; 1 file or disk; 2 usage or input; 3 infeasible;\n"
    "4 threshold failed; 5 data missing; 70 servecast's own bug; 130 interrupted\n"
    "(129: by a hang-up).";

// Verbs of the documented command line that this version does not have; they are refused by name.
constexpr std::array<std::string_view, 3> later_verbs = {"sweep", "plan", "check"};

// What parsing fills in; it outlives the callbacks that CLI11 keeps.
struct Parsed {
  Common common;
  ExplainOptions explain;
  DescribeOptions describe;
  ImportOptions import;
  ValidateOptions validate;
  CapacityOptions capacity;
  CompareOptions compare;
  CalibrateOptions calibrate;
  NumericsOptions numerics;
  std::string what;
  std::string out;
  bool json = false;
  std::function<int()> verb;
};

std::string empty_problem(const std::string& value) {
  return value.empty() ? "is empty; give a value or leave the flag out" : "";
}

// An option or argument that must say something: an empty one is a slip, such as an unset variable of a shell.
template <typename Text>
CLI::Option* text(CLI::App& app, const std::string& name, Text& value, const std::string& help) {
  return app.add_option(name, value, help)->check(empty_problem);
}

void add_common(CLI::App& app, Common& c) {
  text(app, "scenario", c.scenario, "scenario file, or the name of a built-in one (servecast list scenarios)")
      ->required();
  text(app, "--set", c.sets, "override one key: /json/pointer=value (repeatable)")->take_all()->allow_extra_args(false);
  app.add_option_function<std::uint32_t>(
      "--seed", [&c](std::uint32_t seed) { c.seed = seed; }, "seed of every random stream");
  app.add_flag("--json", c.json, "machine-readable output");
  text(app, "--out", c.out, "folder to write files into");
  app.add_option("--threads", c.threads, "threads to use; results do not depend on it")->check(CLI::Range(0, 4096));
}

void add_simulation_verbs(CLI::App& app, Parsed& p) {
  CLI::App* run_app = app.add_subcommand("run", "simulate a scenario and print what comes out");
  add_common(*run_app, p.common);
  run_app->callback([&p] { p.verb = [&p] { return run(p.common); }; });

  CLI::App* fit_app = app.add_subcommand("fit", "memory verdict without simulating");
  add_common(*fit_app, p.common);
  fit_app->callback([&p] { p.verb = [&p] { return fit(p.common); }; });

  CLI::App* explain_app = app.add_subcommand("explain", "time of one engine step, operator by operator");
  add_common(*explain_app, p.explain.common);
  explain_app->add_option("--decode", p.explain.decode, "decoding sequences in the step")
      ->check(CLI::Range(0, 1'000'000));
  explain_app->add_option("--context", p.explain.context, "tokens in cache per decoding sequence")
      ->check(CLI::Range(1, 100'000'000));
  explain_app->add_option("--prefill", p.explain.prefill, "prompt tokens in the step")
      ->check(CLI::Range(0, 100'000'000));
  explain_app->callback([&p] { p.verb = [&p] { return explain(p.explain); }; });
}

void add_reference_verbs(CLI::App& app, Parsed& p) {
  CLI::App* describe_app = app.add_subcommand("describe", "facts of a model, GPU, node, fabric or stack, with sources");
  text(*describe_app, "kind", p.describe.kind, "model, hardware, fabric or stack")->required();
  text(*describe_app, "name", p.describe.name, "name (servecast list), or a path ending in .json")->required();
  describe_app->add_flag("--json", p.describe.json, "machine-readable output");
  describe_app->callback([&p] { p.verb = [&p] { return describe(p.describe); }; });

  CLI::App* list_app = app.add_subcommand("list", "what is built in");
  text(*list_app, "what", p.what, "models, hardware, fabrics, stacks, scenarios or routers; all without it");
  list_app->add_flag("--json", p.json, "machine-readable output");
  list_app->callback([&p] { p.verb = [&p] { return list(p.what, p.json); }; });

  CLI::App* schema_app = app.add_subcommand("schema", "JSON Schema (draft-07) of a document");
  text(*schema_app, "document", p.what,
       "scenario (default), model, gpu, node, fabric, stack; \"markdown\" for docs/CONFIG.md");
  text(*schema_app, "--out", p.out, "file to write instead of standard output");
  schema_app->callback([&p] { p.verb = [&p] { return schema(p.what, p.out); }; });

  CLI::App* init_app = app.add_subcommand("init", "a commented starter scenario");
  text(*init_app, "template", p.what, "name of a built-in scenario (servecast list scenarios)")->required();
  text(*init_app, "--out", p.out, "file to write instead of standard output");
  init_app->callback([&p] { p.verb = [&p] { return init(p.what, p.out); }; });
}

void add_import_verbs(CLI::App& app, Parsed& p) {
  CLI::App* import_app = app.add_subcommand("import", "read foreign files");
  import_app->require_subcommand(1);

  CLI::App* trace_app = import_app->add_subcommand("trace", "summary of a request trace");
  text(*trace_app, "file", p.import.file, "trace file")->required();
  text(*trace_app, "--format", p.import.format,
       "azure, mooncake, burstgpt, bailian, splitwise or servecast; told by its first line without it");
  trace_app->add_flag("--json", p.import.json, "machine-readable output");
  trace_app->callback([&p] { p.verb = [&p] { return import_trace(p.import); }; });

  CLI::App* hf_app = import_app->add_subcommand("hf-config", "turn a Hugging Face config.json into a model file");
  text(*hf_app, "file", p.import.file, "config.json")->required();
  text(*hf_app, "--name", p.import.name, "name of the model; the file's own without it");
  text(*hf_app, "--out", p.import.out, "file to write instead of standard output");
  hf_app->callback([&p] { p.verb = [&p] { return import_hf_config(p.import); }; });
}

void add_calibrate_verbs(CLI::App& app, Parsed& p) {
  CLI::App* top = app.add_subcommand("calibrate", "kernel profiles from measured operator tables");
  top->require_subcommand(1);
  CalibrateOptions& o = p.calibrate;
  const auto add = [&](const char* name, const char* help, int (*verb)(const CalibrateOptions&)) {
    CLI::App* one = top->add_subcommand(name, help);
    one->callback([&p, verb] { p.verb = [&p, verb] { return verb(p.calibrate); }; });
    return one;
  };
  const auto tables_of = [&o](CLI::App& one) {
    text(one, "--gpu", o.gpu, "GPU, where the names of the tables do not say it");
    text(one, "--stack", o.stack, "serving stack, e.g. vllm-0.19.0, where the names do not say it");
  };
  CLI::App* fit_app = add("fit", "fit one GPU's profile", calibrate_fit);
  text(*fit_app, "tables", o.files, "operator tables: CSV, plain or .xz")->required();
  text(*fit_app, "-o,--out", o.out, "folder of the stack; writes kernels/GPU.json into it")->required();
  text(*fit_app, "--note", o.note, "stored in the profile");
  fit_app->add_flag("--quick", o.quick, "no cross-validation");
  fit_app->add_flag("--monotone", o.monotone, "GEMM times never fall with more rows or width, at the knots");
  tables_of(*fit_app);
  CLI::App* score_app = add("score", "errors of a profile on operator tables", calibrate_score);
  text(*score_app, "tables", o.files, "operator tables: CSV, plain or .xz")->required();
  text(*score_app, "--profile", o.profile, "kernel profile to score; the built-in one without it");
  score_app->add_flag("--cross-validate", o.cross_validate, "fit anew with whole key groups held out");
  score_app->add_flag("--json", o.json, "machine-readable output");
  tables_of(*score_app);
  CLI::App* host_app = add("host", "fit a stack's host constants to closed-loop serving rows", calibrate_host);
  text(*host_app, "rows", o.files, "measured rows, as validate reads them")->required();
  text(*host_app, "--stack", o.stack, "stack whose constants are fitted (servecast list stacks)")->required();
  host_app->add_flag("--quick", o.quick, "no fits with one model left out");
  host_app->add_option("--threads", o.threads, "threads to use; results do not depend on it")
      ->check(CLI::Range(0, 4096));
  CLI::App* show_app = add("show", "what the built-in profiles hold", calibrate_show);
  text(*show_app, "--gpu", o.gpu, "profiles of this GPU alone");
  text(*show_app, "--stack", o.stack, "profiles of this stack alone");
  show_app->add_flag("--markdown", o.markdown, "held-out errors by family and the fits beyond their level");
}

void add_question_verbs(CLI::App& app, Parsed& p) {
  CLI::App* capacity_app = app.add_subcommand("capacity", "highest rate that meets the scenario's targets");
  add_common(*capacity_app, p.capacity.common);
  capacity_app->add_flag("--gpus", p.capacity.gpus, "the fewest replicas for the scenario's own rate instead");
  capacity_app->add_option("--tolerance", p.capacity.tolerance, "width of the answer, 0.02 for 2 %")
      ->check(CLI::Range(0.0005, 1.0));
  capacity_app->callback([&p] { p.verb = [&p] { return capacity(p.capacity); }; });

  CLI::App* compare_app =
      app.add_subcommand("compare", "two scenarios, or two result.json files: differences with intervals");
  CompareOptions& c = p.compare;
  text(*compare_app, "a", c.a, "scenario or result.json")->required();
  text(*compare_app, "b", c.b, "scenario or result.json")->required();
  text(*compare_app, "--set", c.sets, "override one key of both scenarios (repeatable)")
      ->take_all()
      ->allow_extra_args(false);
  text(*compare_app, "--set-b", c.sets_b, "override one key of B alone (repeatable)")
      ->take_all()
      ->allow_extra_args(false);
  compare_app->add_option("--replications", c.replications, "paired runs, seeds 1 to this")->check(CLI::Range(1, 1000));
  compare_app->add_option("--threads", c.threads, "threads to use; results do not depend on it")
      ->check(CLI::Range(0, 4096));
  compare_app->add_flag("--json", c.json, "machine-readable output");
  compare_app->callback([&p] { p.verb = [&p] { return compare(p.compare); }; });
}

void add_validate_verb(CLI::App& app, Parsed& p) {
  CLI::App* validate_app = app.add_subcommand("validate", "predict every measured row of a file and report the errors");
  ValidateOptions& v = p.validate;
  text(*validate_app, "file", v.file, "CSV of measured rows; its kind is told by the header")->required();
  validate_app->add_option("--rows", v.rows, "rows furthest off to show")->check(CLI::Range(0, 100'000));
  text(*validate_app, "--max-error", v.limits, "METRIC=PERCENT: exit 4 when the median error is above (repeatable)")
      ->take_all()
      ->allow_extra_args(false);
  validate_app->add_option("--scenario-of", v.scenario_of, "print the scenario of the row on this line, and do no more")
      ->check(CLI::Range(1, 1'000'000'000));
  validate_app->add_flag("--plain-clients", v.plain_clients, "leave out client settings that only some series imply");
  validate_app->add_option("--threads", v.threads, "threads to use; results do not depend on it")
      ->check(CLI::Range(0, 4096));
  validate_app->add_flag("--json", v.json, "machine-readable output");
  validate_app->add_flag("--markdown", v.markdown, "tables for a document");
  validate_app->callback([&p] { p.verb = [&p] { return validate(p.validate); }; });
}

void add_later_verbs(CLI::App& app, Parsed& p) {
  for (const std::string_view name : later_verbs) add_later_verb(app, std::string(name), std::string(name), p.verb);
}

// "servecast rnu x": names the nearest verb, which CLI11's own message does not.
bool explain_unknown_verb(const CLI::App& app, int argc, const char* const* argv) {
  if (argc < 2 || argv[1][0] == '-') return false;
  std::vector<std::string> verbs;
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (verb->get_name() == argv[1]) return false;
    verbs.push_back(verb->get_name());
  }
  warn(fmt::format("servecast: unknown verb \"{}\"{}; servecast --help shows all", argv[1],
                   config::hint(argv[1], verbs)));
  return true;
}

// "run", "import trace": the verb as far as it was understood.
std::string verb_of(const CLI::App& app) {
  std::string names;
  for (const CLI::App* at = &app; !at->get_subcommands().empty();) {
    at = at->get_subcommands().front();
    names += " " + at->get_name();
  }
  return names;
}

// The library's messages as ours: the place first, lower case, one line.
std::string usage_problem(const CLI::App& app, const CLI::ParseError& error) {
  std::string what = error.what();
  if (what.size() > 1 && std::isupper(what[0]) != 0 && std::isupper(what[1]) == 0)
    what[0] = static_cast<char>(std::tolower(what[0]));
  const std::string verb = verb_of(app);
  return fmt::format("servecast{}: {}; see servecast{} --help", verb, what, verb);
}

int parse_failed(const CLI::App& app, const CLI::ParseError& error, int argc, const char* const* argv) {
  if (error.get_exit_code() != 0) {
    if (!explain_unknown_verb(app, argc, argv)) warn(usage_problem(app, error));
    return exit_input;
  }
  std::ostringstream out;
  app.exit(error, out, out);
  print(out.str());
  return exit_done;
}

}  // namespace

int dispatch(int argc, const char* const* argv) {
  CLI::App app{std::string(about), "servecast"};
  lay_out_help(app);
  app.footer(std::string(exit_codes));
  app.set_version_flag("--version", "servecast " SERVECAST_VERSION);
  app.require_subcommand(1);
  Parsed parsed;
  add_simulation_verbs(app, parsed);
  add_reference_verbs(app, parsed);
  add_import_verbs(app, parsed);
  add_calibrate_verbs(app, parsed);
  add_question_verbs(app, parsed);
  add_validate_verb(app, parsed);
  add_numerics(app, parsed.numerics, parsed.verb);
  add_later_verbs(app, parsed);
  if (argc <= 1) {
    print(app.help());
    return exit_input;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return parse_failed(app, error, argc, argv);
  }
  return parsed.verb();
}

}  // namespace servecast::cli
