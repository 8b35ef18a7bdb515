// Host constants of one engine generation, fitted to the closed-loop serving rows that its stack predicts: one set for
// all models and GPUs, never a factor of a row or a model. Coordinate descent from the stack's own constants over the
// mean absolute logarithm of predicted over measured, each value cut at 50 %, times to output tokens weighing twice.
// Every model counts the same. What is left out of a fit (one model at a time) tells how the constants carry over.
#pragma once

#include "cost/host.hpp"
#include "fidelity/csv.hpp"
#include "fidelity/statistics.hpp"

#include <atomic>
#include <functional>
#include <string>
#include <vector>

namespace servecast::fidelity {

struct HostFitOptions {
  int threads = 0;
  int rows_per_model = 16;  // evenly spread over each model's rows; errors are reported over all of them
  bool leave_one_out = true;
  const std::atomic<bool>* stop = nullptr;
  std::function<void(const std::string& stage)> progress;
};

struct ModelErrors {
  std::string model;
  Accuracy tpot, ttft;
};

struct HostFit {
  std::string stack;
  cost::HostConstants before, after;
  std::vector<ModelErrors> errors_before, errors_after;  // ascending by model, scored values only
  std::vector<ModelErrors> errors_left_out;              // each model by the constants fitted to the others
  bool interrupted = false;
};

// Throws core::InputError: another kind of file, an unknown stack, or no row that the stack predicts.
HostFit fit_host(const CsvTable& table, const std::string& place, const std::string& stack,
                 const HostFitOptions& options);

std::string host_fit_text(const HostFit& fit);

}  // namespace servecast::fidelity
