#include "cli/interrupt.hpp"

#include <csignal>

namespace servecast::cli {

namespace {

// A signal handler can reach static storage only.
std::atomic<bool> stop{false};
static_assert(std::atomic<bool>::is_always_lock_free);

void raise_flag(int) { stop.store(true, std::memory_order_relaxed); }

}  // namespace

void watch_signals() {
  struct sigaction action = {};
  action.sa_handler = raise_flag;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

void quiet_broken_pipe() { std::signal(SIGPIPE, SIG_DFL); }

const std::atomic<bool>& interrupted() { return stop; }

}  // namespace servecast::cli
