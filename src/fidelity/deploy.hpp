// The part that every kind of row shares: model, GPU, stack, sizes and formats of the deployment, as a scenario with an
// empty workload. Refuses the case where a name or a column has no meaning here.
#pragma once

#include "fidelity/assumptions.hpp"
#include "fidelity/rows.hpp"

#include <optional>
#include <string>

namespace servecast::fidelity {

// Columns as the file has them.
struct RawDeployment {
  std::string model, gpu, engine, weights, experts, kv, parallelism;
};

struct Placed {
  model::Architecture model;
  Deployment deployment;  // its model points to the member above once placed
  Sizes sizes;
};

// Fills model, gpu, engine, stack, match and the scenario's deployment. False: the case was refused.
bool place(const RawDeployment& raw, const RowContext& context, Case& out, Placed& placed);

// Formats and settings for the load. False: the case was refused.
bool configure(const Placed& placed, const Load& load, Case& out);

// The number in a column, or nothing.
std::optional<double> number_in(const CsvRow& row, const std::string& column);

}  // namespace servecast::fidelity
