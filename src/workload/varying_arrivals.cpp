// Arrival processes whose rate varies: the k-th arrival is where the integral of the rate reaches the k-th point of a
// unit-rate Poisson process.
#include "workload/arrivals.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace servecast::workload {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

class Piecewise final : public ArrivalProcess {
 public:
  Piecewise(const std::vector<RatePoint>& points, core::Random random) : points_(points), random_(random) {}

  core::Time next() override {
    double work = random_.exponential(1);
    while (now_s_ < core::longest_run_s) {
      const double rate = points_[segment_].rate_per_s;
      const double end = segment_ + 1 < points_.size() ? points_[segment_ + 1].from_s : infinity;
      const double at = rate > 0 ? now_s_ + work / rate : infinity;
      if (at < end) {
        now_s_ = at;
        return instant(at);
      }
      if (end == infinity) break;
      work -= rate * (end - now_s_);
      if (work < 0) work = 0;
      now_s_ = end;
      ++segment_;
    }
    now_s_ = infinity;
    return core::Time::never();
  }

 private:
  std::vector<RatePoint> points_;
  core::Random random_;
  std::size_t segment_ = 0;
  double now_s_ = 0;
};

class Diurnal final : public ArrivalProcess {
 public:
  Diurnal(double rate, const DiurnalConfig& c, core::Random random) : rate_(rate), c_(c), random_(random) {}

  core::Time next() override {
    if (now_s_ >= core::longest_run_s) return core::Time::never();
    now_s_ = solve(random_.exponential(1));
    return instant(now_s_);
  }

 private:
  double angle(double t) const { return 2 * std::numbers::pi * (t / c_.period_s + c_.phase); }
  // Integral of the rate from now_s_ to t.
  double work_until(double t) const {
    const double swing = c_.amplitude * c_.period_s / (2 * std::numbers::pi);
    return rate_ * ((t - now_s_) - swing * (std::cos(angle(t)) - std::cos(angle(now_s_))));
  }

  // The t with work_until(t) = work: Newton, kept inside a bracket that shrinks.
  double solve(double work) const {
    double low = now_s_;
    // A whole cycle does rate x period of work whatever the phase, and the swing delays by a cycle at most.
    double high = now_s_ + work / rate_ + c_.period_s;
    const double rate_now = rate_ * (1 + c_.amplitude * std::sin(angle(now_s_)));
    double t = now_s_ + work / std::max(rate_now, 0.1 * rate_);  // exact where the rate hardly changes
    for (int i = 0; i < 100; ++i) {
      const double miss = work_until(t) - work;
      (miss > 0 ? high : low) = t;
      const double slope = rate_ * (1 + c_.amplitude * std::sin(angle(t)));
      double better = slope > 0 ? t - miss / slope : infinity;
      if (!(better > low && better < high)) better = (low + high) / 2;
      if (std::abs(better - t) <= 1e-13 * (1 + better)) return better;
      t = better;
    }
    return t;
  }

  double rate_;
  DiurnalConfig c_;
  core::Random random_;
  double now_s_ = 0;
};

class Mmpp final : public ArrivalProcess {
 public:
  Mmpp(const std::vector<MmppState>& states, core::Random random, core::Random state_random, StopFlag stop)
      : states_(states), random_(random), state_random_(state_random), stop_(stop) {
    // Stationary start: states weigh as their stays do, and an exponential stay has no memory.
    double total = 0;
    for (const MmppState& state : states_) total += state.mean_dwell_s;
    double left = state_random_.uniform() * total;
    while (state_ + 1 < states_.size() && left >= states_[state_].mean_dwell_s) left -= states_[state_++].mean_dwell_s;
    state_end_s_ = state_random_.exponential(states_[state_].mean_dwell_s);
  }

  core::Time next() override {
    double work = random_.exponential(1);
    while (now_s_ < core::longest_run_s) {
      const double rate = states_[state_].rate_per_s;
      const double at = rate > 0 ? now_s_ + work / rate : infinity;
      if (at < state_end_s_) {
        now_s_ = at;
        return instant(at);
      }
      work -= rate * (state_end_s_ - now_s_);
      if (work < 0) work = 0;
      now_s_ = state_end_s_;
      state_ = (state_ + 1) % states_.size();
      state_end_s_ = now_s_ + state_random_.exponential(states_[state_].mean_dwell_s);
      if (stop_.raised()) break;
    }
    return core::Time::never();
  }

 private:
  std::vector<MmppState> states_;
  core::Random random_;
  core::Random state_random_;
  StopFlag stop_;
  std::size_t state_ = 0;
  double now_s_ = 0;
  double state_end_s_ = 0;
};

}  // namespace

std::unique_ptr<ArrivalProcess> make_piecewise(const std::vector<RatePoint>& points, core::Random random) {
  return std::make_unique<Piecewise>(points, random);
}

std::unique_ptr<ArrivalProcess> make_diurnal(double mean_rate, const DiurnalConfig& c, core::Random random) {
  return std::make_unique<Diurnal>(mean_rate, c, random);
}

std::unique_ptr<ArrivalProcess> make_mmpp(const std::vector<MmppState>& states, core::Random random,
                                          core::Random state_random, StopFlag stop) {
  return std::make_unique<Mmpp>(states, random, state_random, stop);
}

}  // namespace servecast::workload
