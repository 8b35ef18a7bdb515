// Summary of repeated samples: robust against the odd slow one, and honest about their spread.
#pragma once

#include <vector>

namespace servecast::microbench {

struct Summary {
  double median = 0;
  double spread = 0;  // interquartile range over the median; 0 for one sample
};

// Requires: samples not empty.
Summary summarise(std::vector<double> samples);

}  // namespace servecast::microbench
