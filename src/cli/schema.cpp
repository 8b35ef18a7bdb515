// `schema` and `init`: the shape of every document, and scenarios to start from.
#include "config/schema.hpp"

#include "cli/output.hpp"
#include "cli/verbs.hpp"
#include "config/closest.hpp"
#include "config/settings_table.hpp"
#include "core/error.hpp"
#include "fabric/profile.hpp"
#include "hardware/gpu.hpp"
#include "model/architecture.hpp"
#include "scenario/library.hpp"
#include "scenario/scenario.hpp"
#include "scenario/stack.hpp"

#include <fmt/format.h>

#include <array>

namespace servecast::cli {

namespace {

struct Document {
  std::string_view name;
  std::string_view title;
  std::string (*schema)(std::string_view title);
  std::string (*table)();
};

template <typename T>
constexpr Document document(std::string_view name, std::string_view title) {
  return {name, title, [](std::string_view t) { return config::json_schema<T>(t); },
          [] { return config::settings_table<T>(); }};
}

constexpr std::array documents = {
    document<scenario::Scenario>("scenario", "servecast scenario"),
    document<model::Architecture>("model", "servecast model"),
    document<hardware::Gpu>("gpu", "servecast GPU profile"),
    document<hardware::Node>("node", "servecast node profile"),
    document<fabric::ScaleUp>("fabric", "servecast fabric profile"),
    document<scenario::Stack>("stack", "servecast stack"),
};

// docs/CONFIG.md.
std::string markdown() {
  std::string text =
      "# Every setting of every document\n\n"
      "Made by `servecast schema markdown`; do not edit. Documents are JSON with comments; an unknown key is an "
      "error.\n"
      "`*` in a pointer stands for an element of a list. `servecast schema DOCUMENT` prints the same as JSON Schema.\n";
  for (const Document& d : documents) text += fmt::format("\n## {}\n\n{}", d.name, d.table());
  return text;
}

}  // namespace

int schema(const std::string& name, const std::string& out) {
  if (name == "markdown") {
    deliver(out, markdown());
    return exit_done;
  }
  std::vector<std::string_view> known = {"markdown"};
  for (const Document& d : documents) {
    known.push_back(d.name);
    if (d.name != (name.empty() ? "scenario" : name)) continue;
    deliver(out, d.schema(d.title));
    return exit_done;
  }
  throw core::InputError("schema", fmt::format("unknown document \"{}\"{}", name, config::hint(name, known)));
}

int init(const std::string& name, const std::string& out) {
  const auto text = scenario::find(scenario::Kind::Scenario, name);
  if (!text)
    throw core::InputError("init", fmt::format("unknown scenario \"{}\"{}", name,
                                               config::hint(name, scenario::names(scenario::Kind::Scenario))));
  deliver(out, *text);
  return exit_done;
}

}  // namespace servecast::cli
