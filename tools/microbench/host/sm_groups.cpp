#include "microbench/host/sm_groups.hpp"

#include "core/error.hpp"

#include <cmath>
#include <cstddef>

namespace servecast::microbench {

namespace {

using Matrix = std::vector<std::vector<double>>;

// Latency without the means of its SM and of its line: what is left is near (negative) or far (positive).
Matrix centred(const Matrix& latency) {
  const std::size_t rows = latency.size(), columns = latency[0].size();
  std::vector<double> row(rows), column(columns);
  double all = 0;
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < columns; ++j) {
      const double v = latency[i][j];
      row[i] += v / static_cast<double>(columns), column[j] += v / static_cast<double>(rows);
      all += v / static_cast<double>(rows * columns);
    }
  Matrix out = latency;
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < columns; ++j) out[i][j] += all - row[i] - column[j];
  return out;
}

// Leading pattern s_i t_j of the matrix by power iteration: signs tell the groups. Starts from the row with most in it.
std::vector<double> leading(const Matrix& m, std::vector<double>& lines) {
  std::size_t start = 0;
  double most = -1;
  for (std::size_t i = 0; i < m.size(); ++i) {
    double sum = 0;
    for (const double v : m[i]) sum += v * v;
    if (sum > most) most = sum, start = i;
  }
  lines = m[start];
  std::vector<double> sms(m.size());
  for (int round = 0; round < 30; ++round) {
    double norm = 0;
    for (const double v : lines) norm += v * v;
    norm = norm > 0 ? std::sqrt(norm) : 1;
    for (double& v : lines) v /= norm;
    for (std::size_t i = 0; i < m.size(); ++i) {
      sms[i] = 0;
      for (std::size_t j = 0; j < lines.size(); ++j) sms[i] += m[i][j] * lines[j];
    }
    for (std::size_t j = 0; j < lines.size(); ++j) {
      lines[j] = 0;
      for (std::size_t i = 0; i < m.size(); ++i) lines[j] += m[i][j] * sms[i];
    }
  }
  return sms;
}

// Mean far minus mean near latency over the mean of all, and whether near and far both exist.
double gap(const Matrix& latency, const SmGroups& g) {
  double near = 0, far = 0, nears = 0, fars = 0;
  for (std::size_t i = 0; i < latency.size(); ++i)
    for (std::size_t j = 0; j < latency[i].size(); ++j)
      (g.sm[i] == g.line[j] ? (nears += 1, near) : (fars += 1, far)) += latency[i][j];
  if (nears == 0 || fars == 0) return 0;
  return (far / fars - near / nears) / ((far + near) / (fars + nears));
}

}  // namespace

SmGroups find_groups(const Matrix& latency, double least_gap) {
  SERVECAST_ENSURE(latency.size() >= 2 && latency[0].size() >= 2, "{} SMs", latency.size());
  SmGroups g;
  std::vector<double> lines;
  const std::vector<double> sms = leading(centred(latency), lines);
  const bool positive = sms[0] >= 0;  // group of SM 0
  for (const double v : sms) g.sm.push_back((v >= 0) == positive ? 0 : 1);
  // A line that is quicker than usual for SMs with positive sign has a negative one.
  for (const double v : lines) g.line.push_back((v < 0) == positive ? 0 : 1);
  g.split = gap(latency, g) >= least_gap;
  if (!g.split) g.sm.assign(g.sm.size(), 0), g.line.assign(g.line.size(), 0);
  return g;
}

}  // namespace servecast::microbench
