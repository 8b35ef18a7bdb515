// The text of a model file: an Architecture as the JSON that describe() reads back unchanged.
#pragma once

#include "model/architecture.hpp"

#include <string>

namespace servecast::model {

std::string model_file(const Architecture& a);

}  // namespace servecast::model
