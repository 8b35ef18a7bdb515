// `list`: names of everything built in, one a line, so that shells can use them.
#include "cli/output.hpp"
#include "cli/verbs.hpp"
#include "config/closest.hpp"
#include "config/json_text.hpp"
#include "core/error.hpp"
#include "scenario/catalog.hpp"
#include "scenario/library.hpp"

#include <fmt/format.h>

namespace servecast::cli {

namespace {

using scenario::Kind;

struct Section {
  std::string_view title;
  std::vector<std::string> names;
};

std::vector<Section> sections_of(std::string_view what) {
  const auto hardware = [] {
    return std::vector<Section>{{"nodes", scenario::names(Kind::Node)}, {"gpus", scenario::names(Kind::Gpu)}};
  };
  if (what == "models") return {{"models", scenario::names(Kind::Model)}};
  if (what == "hardware") return hardware();
  if (what == "nodes") return {hardware()[0]};
  if (what == "gpus") return {hardware()[1]};
  if (what == "fabrics") return {{"fabrics", scenario::names(Kind::Fabric)}};
  if (what == "stacks") return {{"stacks", scenario::names(Kind::Stack)}};
  if (what == "scenarios") return {{"scenarios", scenario::names(Kind::Scenario)}};
  if (what == "routers") return {{"routers", scenario::router_names()}};
  std::vector<Section> all;
  for (const std::string_view part : {"models", "hardware", "fabrics", "stacks", "scenarios", "routers"})
    for (Section& section : sections_of(part)) all.push_back(std::move(section));
  return all;
}

void check_known(const std::string& what) {
  static constexpr std::string_view known[] = {"models",  "hardware", "nodes",     "gpus",
                                               "fabrics", "stacks",   "scenarios", "routers"};
  for (const std::string_view name : known)
    if (what == name) return;
  if (!what.empty())
    throw core::InputError("list", fmt::format("unknown list \"{}\"{}", what, config::hint(what, known)));
}

}  // namespace

int list(const std::string& what, bool json) {
  check_known(what);
  const std::vector<Section> sections = sections_of(what);
  if (json) {
    config::JsonWriter out;
    out.begin_object();
    for (const Section& section : sections) {
      out.begin_array(section.title);
      for (const std::string& name : section.names) out.element(name);
      out.end_array();
    }
    out.end_object();
    print(out.text());
    return exit_done;
  }
  std::string text;
  for (const Section& section : sections) {
    if (sections.size() > 1) text += fmt::format("{}{}:\n", text.empty() ? "" : "\n", section.title);
    for (const std::string& name : section.names) text += fmt::format("{}{}\n", sections.size() > 1 ? "  " : "", name);
  }
  print(text);
  return exit_done;
}

}  // namespace servecast::cli
