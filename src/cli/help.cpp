#include "cli/help.hpp"

#include "report/figures.hpp"
#include "report/table.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace servecast::cli {

namespace {

constexpr std::size_t left_width = 28;

std::string entry(const std::string& name, const std::string& help) {
  std::string text = "  " + name;
  if (help.empty()) return text + "\n";
  // A name too wide for its column stands alone.
  bool beside = text.size() + 2 <= left_width;
  if (!beside) text += '\n';
  for (const std::string& line : report::wrap(help, report::terminal_width - left_width)) {
    text += beside ? fmt::format("{:{}}{}\n", std::string(), left_width - text.size(), line)
                   : fmt::format("{:{}}{}\n", std::string(), left_width, line);
    beside = false;
  }
  return text;
}

class Layout final : public CLI::Formatter {
 public:
  std::string make_option(const CLI::Option* option, bool positional) const override {
    return entry(make_option_name(option, positional) + make_option_opts(option), make_option_desc(option));
  }
  std::string make_subcommand(const CLI::App* verb) const override {
    return entry(verb->get_name(), verb->get_description());
  }
};

}  // namespace

void lay_out_help(CLI::App& app) { app.formatter(std::make_shared<Layout>()); }

}  // namespace servecast::cli
