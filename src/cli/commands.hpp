// The command line's grammar: verbs, flags and help. Parses argv, calls the verb and returns its exit code.
#pragma once

namespace servecast::cli {

int dispatch(int argc, const char* const* argv);

}  // namespace servecast::cli
