// Entry point: every kind of error becomes its message and its exit code here.
#include "cli/commands.hpp"
#include "cli/interrupt.hpp"
#include "cli/options.hpp"
#include "cli/output.hpp"
#include "core/error.hpp"

#include <fmt/format.h>

#include <exception>
#include <new>

namespace {

namespace cli = servecast::cli;

int answer(int argc, char** argv) {
  try {
    return cli::dispatch(argc, argv);
  } catch (const servecast::core::InputError& error) {
    cli::print_problems(error.lines());
    return cli::exit_input;
  } catch (const servecast::core::Error& error) {
    cli::warn(fmt::format("servecast: {}", error.what()));
    return cli::exit_outside;
  } catch (const std::bad_alloc&) {
    cli::warn("servecast: out of memory");
    return cli::exit_outside;
  } catch (const std::exception& error) {
    cli::warn(fmt::format("servecast: internal error: {}\nthis is a bug of servecast " SERVECAST_VERSION
                          "; please report it with the command line and the scenario (--out keeps resolved.json)",
                          error.what()));
    return cli::exit_bug;
  }
}

}  // namespace

int main(int argc, char** argv) {
  cli::hold_standard_streams();
  cli::tame_write_signals();
  const int code = answer(argc, argv);
  return code == cli::exit_done && cli::diagnostics_lost() ? int{cli::exit_outside} : code;
}
