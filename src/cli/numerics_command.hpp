// The verbs below `numerics`, and how verbs of later versions are refused by name.
#pragma once

#include "cli/options.hpp"

#include <functional>
#include <string>

namespace CLI {
class App;
}

namespace servecast::cli {

// options and verb outlive app; a chosen verb is put into verb.
void add_numerics(CLI::App& app, NumericsOptions& options, std::function<int()>& verb);

// full: as the user would write it, e.g. "numerics routing".
void add_later_verb(CLI::App& app, const std::string& name, const std::string& full, std::function<int()>& verb);

}  // namespace servecast::cli
