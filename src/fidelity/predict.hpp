// Runs the scenario of a measured row and fills in what it predicts. Step times are compiled once per configuration and
// shared between rows and threads, because compiling costs more than most runs.
#pragma once

#include "fidelity/measured.hpp"
#include "scenario/build.hpp"
#include "scenario/step_times.hpp"

#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace servecast::fidelity {

class StepTimesCache {
 public:
  // Safe to call from several threads; whoever asks first compiles. Throws what make_step_times throws.
  std::shared_ptr<const scenario::StepTimes> get(const scenario::Resolved& r);
  std::size_t size() const { return times_.size(); }

 private:
  std::mutex mutex_;
  std::map<std::string, std::shared_future<std::shared_ptr<const scenario::StepTimes>>> times_;
};

// Requires: c.fate is Predicted. Turns it into a refusal where the simulator cannot express the row.
void predict(Case& c, StepTimesCache& cache);

}  // namespace servecast::fidelity
