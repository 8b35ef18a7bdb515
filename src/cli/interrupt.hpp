// Ctrl-C as a flag that a run polls, so that it can end with a partial result. A second one ends the process at once.
#pragma once

#include <atomic>

namespace servecast::cli {

// From now on SIGINT and SIGTERM raise the flag once, and end the process the second time.
void watch_signals();
// A closed pipe ends the process without a message, whatever the parent process chose.
void quiet_broken_pipe();
const std::atomic<bool>& interrupted();

}  // namespace servecast::cli
