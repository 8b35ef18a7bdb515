// result.json: the whole Result with stable names and order. The same Result gives the same bytes. Parts that a run
// does not have are left out, never invented.
#pragma once

#include <string>

namespace servecast::metrics {
struct Result;
}

namespace servecast::report {

std::string result_json(const metrics::Result& result);

}  // namespace servecast::report
