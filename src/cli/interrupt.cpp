#include "cli/interrupt.hpp"

#include "cli/options.hpp"

#include <csignal>

namespace servecast::cli {

namespace {

// A signal handler can reach static storage only.
std::atomic<bool> stop{false};
std::atomic<bool> hung_up{false};
static_assert(std::atomic<bool>::is_always_lock_free);

void raise_flag(int signal) {
  if (signal == SIGHUP) hung_up.store(true, std::memory_order_relaxed);
  stop.store(true, std::memory_order_relaxed);
}

void watch(int signal, int flags) {
  struct sigaction action = {};
  action.sa_handler = raise_flag;
  action.sa_flags = flags;
  sigemptyset(&action.sa_mask);
  sigaction(signal, &action, nullptr);
}

bool ignored(int signal) {
  struct sigaction now = {};
  return sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

}  // namespace

void watch_signals() {
  watch(SIGINT, static_cast<int>(SA_RESETHAND));
  watch(SIGTERM, static_cast<int>(SA_RESETHAND));
  // A closing terminal and the shell in it both send one, so a second one says nothing new.
  if (!ignored(SIGHUP)) watch(SIGHUP, 0);
}

void tame_write_signals() {
  std::signal(SIGPIPE, SIG_DFL);
  std::signal(SIGXFSZ, SIG_IGN);
}

const std::atomic<bool>& interrupted() { return stop; }

int interrupted_exit() { return hung_up.load(std::memory_order_relaxed) ? exit_hung_up : exit_interrupted; }

}  // namespace servecast::cli
