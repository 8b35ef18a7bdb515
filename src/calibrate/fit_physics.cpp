#include "calibrate/fit.hpp"
#include "core/random.hpp"
#include "cost/kernels/physics.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <unsupported/Eigen/NonLinearOptimization>
#include <unsupported/Eigen/NumericalDiff>

namespace servecast::calibrate {

namespace {

constexpr std::size_t sample_rows = 3000;  // enough for nine parameters; fits stay below a second
constexpr double robust_scale = 0.1;       // of the soft-L1 loss, in ln
constexpr int max_evaluations = 80;        // of the residuals, Jacobians apart

// A seeded sample without replacement.
Rows sample(const Rows& rows) {
  if (rows.size() <= sample_rows) return rows;
  Rows out = rows;
  core::Random random(1, "calibrate/sample");
  for (std::size_t i = 0; i < sample_rows; ++i) std::swap(out[i], out[i + random.below(out.size() - i)]);
  out.resize(sample_rows);
  return out;
}

// Residuals whose squares sum to the soft-L1 loss of ln(physics / measured). A parameter moves freely on a sine between
// the logarithms of its bounds.
class Residuals {
 public:
  using Scalar = double;
  using InputType = Eigen::VectorXd;
  using ValueType = Eigen::VectorXd;
  using JacobianType = Eigen::MatrixXd;
  enum { InputsAtCompileTime = Eigen::Dynamic, ValuesAtCompileTime = Eigen::Dynamic };

  Residuals(const Context& c, const Rows& rows) : context_(c), rows_(rows), parameters_(info(c.family).parameters) {
    for (const Observation* r : rows) log_us_.push_back(std::log(r->us));
  }
  int inputs() const { return static_cast<int>(parameters_.size()); }
  int values() const { return static_cast<int>(rows_.size()); }

  InputType start() const {
    InputType u(inputs());
    for (int i = 0; i < inputs(); ++i) {
      const auto& p = parameters_[static_cast<std::size_t>(i)];
      const double share = (std::log(p.start) - std::log(p.low)) / (std::log(p.high) - std::log(p.low));
      u[i] = std::asin(std::clamp(2 * share - 1, -0.99, 0.99));
    }
    return u;
  }
  Parameters theta(const InputType& u) const {
    Parameters out{};
    for (int i = 0; i < inputs(); ++i) {
      const auto& p = parameters_[static_cast<std::size_t>(i)];
      const double share = (std::sin(u[i]) + 1) / 2;
      out[static_cast<std::size_t>(i)] = std::exp(std::log(p.low) + share * (std::log(p.high) - std::log(p.low)));
    }
    return out;
  }
  int operator()(const InputType& u, ValueType& out) const {
    const Parameters p = theta(u);
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const double r = (std::log(physics(context_, p, rows_[i]->x, false).us) - log_us_[i]) / robust_scale;
      const double loss = 2 * (std::sqrt(1 + r * r) - 1);
      out[static_cast<Eigen::Index>(i)] = std::copysign(std::sqrt(loss), r);
    }
    return 0;
  }

 private:
  const Context& context_;
  const Rows& rows_;
  std::span<const cost::kernels::Parameter> parameters_;
  std::vector<double> log_us_;
};

}  // namespace

Parameters fit_physics(const Context& c, const Rows& rows) {
  const Rows chosen = sample(rows);
  const Residuals residuals(c, chosen);
  using Differenced = Eigen::NumericalDiff<Residuals>;
  Differenced differenced(residuals);
  Eigen::LevenbergMarquardt<Differenced> solver(differenced);
  solver.parameters.maxfev = max_evaluations * (residuals.inputs() + 1);
  solver.parameters.ftol = 1e-7;
  solver.parameters.xtol = 1e-6;
  Eigen::VectorXd u = residuals.start();
  if (chosen.size() >= static_cast<std::size_t>(residuals.inputs())) solver.minimize(u);
  return residuals.theta(u);
}

}  // namespace servecast::calibrate
