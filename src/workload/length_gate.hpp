// Makes lengths fit the longest sequence the engine takes (prompt + output <= max_model_len), by the policy stated.
#pragma once

#include "workload/config.hpp"
#include "workload/source_report.hpp"

#include <cstdint>
#include <string>

namespace servecast::workload {

// Where a request came from: a line of a file, or its index in a synthetic workload (then file is empty).
struct Origin {
  const std::string* file = nullptr;
  std::uint64_t number = 0;
};

class LengthGate {
 public:
  // max_model_len 0: no limit but that of 31 bits.
  LengthGate(Overlong policy, std::int32_t max_model_len, SourceReport& report);
  // False: leave the request out. Cutting takes the prompt first, to max_model_len - 1, then the output.
  bool admit(std::int32_t& prompt, std::int32_t& output, const Origin& origin) {
    if (std::int64_t{prompt} + output <= limit_) [[likely]]
      return true;
    return fit(prompt, output, origin);
  }
  bool fits(std::int64_t prompt, std::int64_t output) const { return prompt + output <= limit_; }
  // Throws InputError about a request that is too long.
  [[noreturn]] void refuse(std::int64_t prompt, std::int64_t output, const Origin& origin) const;
  Overlong policy() const { return policy_; }

 private:
  bool fit(std::int32_t& prompt, std::int32_t& output, const Origin& origin);

  Overlong policy_;
  std::int64_t limit_;
  SourceReport* report_;
};

}  // namespace servecast::workload
