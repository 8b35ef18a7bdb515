#include "workload/arrivals.hpp"

#include "core/error.hpp"

#include <cmath>

namespace servecast::workload {

namespace {

constexpr double longest_run_ps = core::longest_run_s * core::ps_per_second;

// Gaps are independent draws; Gap() gives one in picoseconds.
template <typename Gap>
class Renewal final : public ArrivalProcess {
 public:
  Renewal(Gap gap, core::Random random) : gap_(gap), random_(random) {}

  core::Time next() override {
    const double gap_ps = gap_(random_);
    if (!(static_cast<double>(now_.ps) + gap_ps < longest_run_ps)) return core::Time::never();
    now_.ps += std::llrint(gap_ps);
    return now_;
  }

 private:
  Gap gap_;
  core::Random random_;
  core::Time now_;
};

template <typename Gap>
std::unique_ptr<ArrivalProcess> make_renewal(Gap gap, core::Random random) {
  return std::make_unique<Renewal<Gap>>(gap, random);
}

class Constant final : public ArrivalProcess {
 public:
  explicit Constant(double rate) : rate_(rate) {}
  // The instant is computed from the count, so that rounding does not accumulate.
  core::Time next() override { return instant(static_cast<double>(++count_) / rate_); }

 private:
  double rate_;
  std::uint64_t count_ = 0;
};

class AllAtOnce final : public ArrivalProcess {
 public:
  core::Time next() override { return {}; }
};

}  // namespace

double weibull_shape(double cv) {
  // cv^2 + 1 = Gamma(1 + 2/k) / Gamma(1 + 1/k)^2 falls as k rises; bisect ln k.
  const double target = std::log1p(cv * cv);
  double low = std::log(0.05);
  double high = std::log(500.0);
  for (int i = 0; i < 200; ++i) {
    const double middle = (low + high) / 2;
    const double k = std::exp(middle);
    const double value = std::lgamma(1 + 2 / k) - 2 * std::lgamma(1 + 1 / k);
    (value > target ? low : high) = middle;
  }
  return std::exp((low + high) / 2);
}

std::unique_ptr<ArrivalProcess> make_arrival_process(const ArrivalsConfig& c, std::uint64_t seed,
                                                     const std::string& stream, StopFlag stop) {
  core::Random random(seed, stream);
  const double mean_ps = core::ps_per_second / c.rate_per_s.value_or(1);
  switch (c.process) {
    case Process::Poisson: return make_renewal([mean_ps](core::Random& r) { return r.exponential(mean_ps); }, random);
    case Process::Gamma: {
      const double shape = c.burstiness ? *c.burstiness : 1 / (*c.cv * *c.cv);
      return make_renewal([shape, scale = mean_ps / shape](core::Random& r) { return r.gamma(shape, scale); }, random);
    }
    case Process::Weibull: {
      const double shape = weibull_shape(*c.cv);
      const double scale = mean_ps / std::tgamma(1 + 1 / shape);
      return make_renewal([shape, scale](core::Random& r) { return r.weibull(shape, scale); }, random);
    }
    case Process::Constant: return std::make_unique<Constant>(*c.rate_per_s);
    case Process::Piecewise: return make_piecewise(c.piecewise, random);
    case Process::Diurnal: return make_diurnal(*c.rate_per_s, c.diurnal.value_or(DiurnalConfig{}), random);
    case Process::Mmpp: return make_mmpp(c.mmpp, random, core::Random(seed, stream + "/states"), stop);
    case Process::AllAtOnce: return std::make_unique<AllAtOnce>();
  }
  SERVECAST_ENSURE(false, "process {} has no generator", static_cast<int>(c.process));
}

}  // namespace servecast::workload
