// The part of `explain` about the dies of a GPU: crossing traffic by operator, and the mean power of the step.
#pragma once

#include "config/json_text.hpp"
#include "cost/explain_dies.hpp"

#include <string>
#include <vector>

namespace servecast::cli {

std::string dies_text(const cost::StepModel& model, const cost::StepTime& time, const std::vector<cost::DieRow>& rows);
void write_dies(config::JsonWriter& out, const std::vector<cost::DieRow>& rows);

}  // namespace servecast::cli
