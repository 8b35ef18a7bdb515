// Ctrl-C, a request to end or a hang-up as a flag that a run polls, so that it can end with a partial result. A second
// Ctrl-C ends the process at once.
#pragma once

#include <atomic>

namespace servecast::cli {

// From now on SIGINT and SIGTERM raise the flag once, and end the process the second time. SIGHUP raises it too, unless
// the parent process had it ignored (nohup).
void watch_signals();
// A closed pipe ends the process without a message, whatever the parent process chose; a file that reaches its size
// limit is an error of writing, not a signal.
void tame_write_signals();
const std::atomic<bool>& interrupted();
// The exit code of a run that the flag ended.
int interrupted_exit();

}  // namespace servecast::cli
