// When requests arrive in an open loop: renewal processes by their gaps, processes of varying rate by inverting the
// integral of the rate, so that each arrival takes one exponential draw and rescaling every rate rescales one and the
// same stream. Instants are whole picoseconds and never fall.
#pragma once

#include "core/random.hpp"
#include "core/time.hpp"
#include "workload/config.hpp"
#include "workload/stop_flag.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace servecast::workload {

class ArrivalProcess {
 public:
  virtual ~ArrivalProcess() = default;
  // Instant of the next arrival; Time::never() when none follows or it lies beyond core::longest_run_s.
  virtual core::Time next() = 0;
};

// stream: "workload/arrivals" for requests; state changes of mmpp draw from stream + "/states".
// A raised stop ends a process that searches for its next arrival. Requires: check() found nothing.
std::unique_ptr<ArrivalProcess> make_arrival_process(const ArrivalsConfig& c, std::uint64_t seed,
                                                     const std::string& stream, StopFlag stop = {});

// Processes whose rate varies.
std::unique_ptr<ArrivalProcess> make_piecewise(const std::vector<RatePoint>& points, core::Random random);
std::unique_ptr<ArrivalProcess> make_diurnal(double mean_rate, const DiurnalConfig& c, core::Random random);
std::unique_ptr<ArrivalProcess> make_mmpp(const std::vector<MmppState>& states, core::Random random,
                                          core::Random state_random, StopFlag stop);

// Shape of a Weibull law with this coefficient of variation. Requires: 0.01 <= cv <= 30.
double weibull_shape(double cv);

// The instant `s` seconds into the run, or never beyond the longest run.
inline core::Time instant(double s) {
  return s < core::longest_run_s ? core::Time{} + core::seconds(s) : core::Time::never();
}

}  // namespace servecast::workload
