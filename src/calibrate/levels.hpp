// How well profiles predict key groups that they were not fitted to, as tables for a document: every profile by family,
// then each fit that misses the level of its family, then the MoE curves on a slow tactic. Levels: what the measured
// study of these forms reached on the same tables (median and 90th percentile of the relative error); families without
// one are listed without a verdict.
#pragma once

#include "cost/kernels/profile.hpp"

#include <optional>
#include <string>
#include <vector>

namespace servecast::calibrate {

struct Level {
  double median = 0;
  double p90 = 0;
};

// The level of a fit; nothing where none is set.
std::optional<Level> level_of(const cost::kernels::KernelProfile& profile, const cost::kernels::Fit& fit);

// Whether the study fitted such kernels: its three stacks, gated experts in the four common formats, sound tables.
bool within_study(const cost::kernels::KernelProfile& profile, const cost::kernels::Key& key);

// What is held against the level: curves on a slow tactic apart, MLA decode as the mean of the profile's fits.
cost::kernels::Score judged(const cost::kernels::KernelProfile& profile, const cost::kernels::Fit& fit);

struct NamedProfile {
  std::string stack;  // folder
  cost::kernels::KernelProfile profile;
};

// Markdown, in the order given.
std::string profiles_markdown(const std::vector<NamedProfile>& profiles);

}  // namespace servecast::calibrate
