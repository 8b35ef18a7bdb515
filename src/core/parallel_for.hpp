// Independent pieces of work over threads: f(i) for every i in [0, n), each exactly once. What f computes must depend
// on i only and go to a place of its own, so that no result depends on the number of threads. The first exception in
// order of i is thrown after all threads have ended; later pieces may then be missing.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <thread>
#include <vector>

namespace servecast::core {

// threads < 1: as many as the machine has.
inline std::size_t thread_count(int threads, std::size_t pieces) {
  const std::size_t wanted =
      threads >= 1 ? static_cast<std::size_t>(threads) : std::max(1U, std::thread::hardware_concurrency());
  return std::max<std::size_t>(1, std::min(wanted, pieces));
}

template <typename F>
void parallel_for(std::size_t n, int threads, F&& f) {
  std::vector<std::exception_ptr> failures(n);
  std::atomic<std::size_t> next{0};
  std::atomic<bool> failed{false};
  const auto work = [&] {
    for (std::size_t i = next++; i < n && !failed; i = next++) {
      try {
        f(i);
      } catch (...) {
        failures[i] = std::current_exception();
        failed = true;
      }
    }
  };
  {
    std::vector<std::jthread> workers;
    for (std::size_t t = 1; t < thread_count(threads, n); ++t) workers.emplace_back(work);
    work();
  }
  for (const std::exception_ptr& failure : failures)
    if (failure) std::rethrow_exception(failure);
}

}  // namespace servecast::core
