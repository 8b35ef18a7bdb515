// One function per verb, each in its own file. They print results on stdout, diagnostics on stderr, and return the exit
// code; errors of input and of the outside world are thrown and reported by main.
#pragma once

#include "cli/options.hpp"

#include <string>

namespace servecast::cli {

int run(const Common& options);
int fit(const Common& options);
int explain(const ExplainOptions& options);
int describe(const DescribeOptions& options);
int list(const std::string& what, bool json);
int schema(const std::string& document, const std::string& out);
int init(const std::string& scenario, const std::string& out);
int calibrate_fit(const CalibrateOptions& options);
int calibrate_score(const CalibrateOptions& options);
int calibrate_show(const CalibrateOptions& options);
int calibrate_host(const CalibrateOptions& options);
int validate(const ValidateOptions& options);
int capacity(const CapacityOptions& options);
int compare(const CompareOptions& options);
int numerics_formats(const NumericsOptions& options);
int import_trace(const ImportOptions& options);
int import_hf_config(const ImportOptions& options);

}  // namespace servecast::cli
