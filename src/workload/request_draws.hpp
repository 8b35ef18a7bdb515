// Draws the lengths and the content of synthetic requests, one after the other: request i takes draw i of each stream
// ("workload/input", "workload/output", "workload/prefix"), whatever became of the requests before it.
#pragma once

#include "core/random.hpp"
#include "workload/config.hpp"
#include "workload/length_gate.hpp"
#include "workload/lengths.hpp"
#include "workload/prefix.hpp"
#include "workload/request.hpp"

#include <cstdint>
#include <optional>

namespace servecast::workload {

class RequestDraws {
 public:
  RequestDraws(const WorkloadConfig& c, std::uint64_t seed, LengthGate gate, SourceReport& report);
  // Fills lengths and content. False: the request is left out (overlong); its draws are spent all the same.
  bool draw(Request& request);

 private:
  std::optional<Lengths> input_;
  std::optional<Lengths> output_;
  std::vector<JointLength> joint_;
  std::optional<WeightedChoice> pair_;
  std::optional<SharedPrefix> prefix_;
  core::Random input_random_;
  core::Random output_random_;
  LengthGate gate_;
  SourceReport* report_;
  std::uint64_t misses_ = 0;  // left out in a row
};

}  // namespace servecast::workload
