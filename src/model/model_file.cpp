#include "model/model_file.hpp"

#include "config/json_writer.hpp"

namespace servecast::model {

std::string model_file(const Architecture& a) { return config::write(a); }

}  // namespace servecast::model
