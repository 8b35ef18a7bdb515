// Formats that a precision policy chose, for the terminal and as JSON.
#pragma once

#include "config/json_text.hpp"
#include "metrics/precision_use.hpp"

#include <string>

namespace servecast::report {

// Neighbouring blocks of one format stand together, with the lowest quality among them.
std::string precision_text(const metrics::PrecisionUse& use);
// A member "precision" of the object that is open.
void write_precision(config::JsonWriter& json, const metrics::PrecisionUse& use);

}  // namespace servecast::report
