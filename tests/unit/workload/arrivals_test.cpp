#include "workload/arrivals.hpp"

#include "catch.hpp"
#include "core/statistics.hpp"

#include <cmath>

using namespace servecast;
using namespace servecast::workload;

namespace {

std::vector<double> instants(const ArrivalsConfig& c, int count, std::uint64_t seed = 1) {
  const auto process = make_arrival_process(c, seed, "workload/arrivals");
  std::vector<double> times;
  for (int i = 0; i < count; ++i) times.push_back(core::to_seconds(process->next()));
  return times;
}

core::Running gaps(const std::vector<double>& times) {
  core::Running running;
  double last = 0;
  for (const double time : times) {
    running.add(time - last);
    last = time;
  }
  return running;
}

ArrivalsConfig at_rate(Process process, double rate) {
  ArrivalsConfig c;
  c.process = process;
  c.rate_per_s = rate;
  return c;
}

double arrivals_within(const std::vector<double>& times, double from, double to) {
  double count = 0;
  for (const double time : times) count += time >= from && time < to;
  return count;
}

}  // namespace

TEST_CASE("poisson gaps have the mean of the rate and a CV of 1") {
  const core::Running g = gaps(instants(at_rate(Process::Poisson, 20), 200000));
  CHECK(g.mean() == Approx(0.05).epsilon(0.01));
  CHECK(g.deviation() / g.mean() == Approx(1).epsilon(0.01));
}

TEST_CASE("gamma and weibull gaps have the CV asked for") {
  for (const Process process : {Process::Gamma, Process::Weibull}) {
    for (const double cv : {0.25, 1.0, 2.5}) {
      ArrivalsConfig c = at_rate(process, 10);
      c.cv = cv;
      const core::Running g = gaps(instants(c, 300000));
      CAPTURE(static_cast<int>(process), cv);
      CHECK(g.mean() == Approx(0.1).epsilon(0.02));
      CHECK(g.deviation() / g.mean() == Approx(cv).epsilon(0.03));
    }
  }
}

TEST_CASE("burstiness is the shape of the gamma law") {
  ArrivalsConfig by_cv = at_rate(Process::Gamma, 10);
  by_cv.cv = 2;
  ArrivalsConfig by_shape = at_rate(Process::Gamma, 10);
  by_shape.burstiness = 0.25;
  CHECK(instants(by_cv, 100) == instants(by_shape, 100));
}

TEST_CASE("the weibull shape of CV 1 is 1") {
  CHECK(weibull_shape(1) == Approx(1).epsilon(1e-9));
  CHECK(weibull_shape(std::sqrt(5.0)) == Approx(0.5).epsilon(1e-9));  // Gamma(5) / Gamma(3)^2 - 1 = 5
}

TEST_CASE("constant arrivals fall on exact instants") {
  const auto process = make_arrival_process(at_rate(Process::Constant, 3), 1, "workload/arrivals");
  CHECK(process->next().ps == 333333333333);
  CHECK(process->next().ps == 666666666667);
  CHECK(process->next().ps == 1000000000000);
}

TEST_CASE("all at once arrives at time 0") {
  ArrivalsConfig c;
  c.process = Process::AllAtOnce;
  CHECK(instants(c, 3) == std::vector<double>{0, 0, 0});
}

TEST_CASE("doubling the rate halves every instant of a stream") {
  for (const Process process : {Process::Poisson, Process::Gamma, Process::Weibull}) {
    ArrivalsConfig slow = at_rate(process, 5);
    ArrivalsConfig fast = at_rate(process, 10);
    if (process != Process::Poisson) slow.cv = fast.cv = 1.5;
    const auto a = instants(slow, 1000);
    const auto b = instants(fast, 1000);
    for (std::size_t i = 0; i < a.size(); ++i)
      REQUIRE(std::abs(a[i] - 2 * b[i]) < 2e-12 * static_cast<double>(i + 1));  // a picosecond's rounding each
  }
}

TEST_CASE("piecewise rates hold in their pieces, and a rate of 0 is silence") {
  ArrivalsConfig c;
  c.process = Process::Piecewise;
  c.piecewise = {{0, 100}, {100, 0}, {200, 10}, {300, 0}};
  const auto process = make_arrival_process(c, 1, "workload/arrivals");
  std::vector<double> times;
  for (core::Time t = process->next(); t != core::Time::never(); t = process->next())
    times.push_back(core::to_seconds(t));
  CHECK(arrivals_within(times, 0, 100) == Approx(10000).epsilon(0.04));
  CHECK(arrivals_within(times, 100, 200) == 0);
  CHECK(arrivals_within(times, 200, 300) == Approx(1000).epsilon(0.1));
  CHECK(times.back() < 300);
  CHECK(process->next() == core::Time::never());
}

TEST_CASE("a constant piecewise rate is a poisson stream") {
  ArrivalsConfig c;
  c.process = Process::Piecewise;
  c.piecewise = {{0, 4}};
  const auto a = instants(c, 1000);
  const auto b = instants(at_rate(Process::Poisson, 4), 1000);
  for (std::size_t i = 0; i < a.size(); ++i) REQUIRE(a[i] == Approx(b[i]).epsilon(1e-9));
}

TEST_CASE("diurnal arrivals follow the sinusoid") {
  ArrivalsConfig c = at_rate(Process::Diurnal, 50);
  c.diurnal = DiurnalConfig{1.0, 1000, 0.25};
  const auto times = instants(c, 200000);  // about four periods
  // Integral of 1 + cos(2 pi t / 1000) over the first quarter: 250 + 1000 / (2 pi).
  CHECK(arrivals_within(times, 0, 250) == Approx(50 * (250 + 159.155)).epsilon(0.03));
  CHECK(arrivals_within(times, 250, 500) == Approx(50 * (250 - 159.155)).epsilon(0.06));
  CHECK(arrivals_within(times, 0, 3000) == Approx(150000).epsilon(0.01));
  for (std::size_t i = 1; i < times.size(); ++i) REQUIRE(times[i] >= times[i - 1]);
}

TEST_CASE("mmpp has its mean rate and its index of dispersion") {
  ArrivalsConfig c;
  c.process = Process::Mmpp;
  c.mmpp = {{10, 5}, {1, 20}};
  CHECK(mean_rate(c) == Approx(2.8));
  const auto times = instants(c, 280000);
  CHECK(static_cast<double>(times.size()) / times.back() == Approx(2.8).epsilon(0.05));
  core::Running counts;
  std::size_t i = 0;
  constexpr double window = 1000;
  for (double end = window; end < times.back(); end += window) {
    double count = 0;
    for (; i < times.size() && times[i] < end; ++i) ++count;
    counts.add(count);
  }
  // IDC = 1 + 2 r12 r21 (l1 - l2)^2 / ((r12 + r21)^2 (l1 r21 + l2 r12)), r = 1 / dwell.
  const double expected = 1 + 2 * 0.2 * 0.05 * 81 / (0.0625 * (10 * 0.05 + 0.2));
  CHECK(counts.variance() / counts.mean() == Approx(expected).epsilon(0.3));
}

TEST_CASE("arrivals beyond the longest run are never") {
  const auto process = make_arrival_process(at_rate(Process::Constant, 1e-6), 1, "workload/arrivals");
  for (int i = 0; i < 3; ++i) CHECK(process->next() != core::Time::never());
  CHECK(process->next() == core::Time::never());
}

TEST_CASE("a raised stop ends the search for the next arrival of an idle mmpp") {
  ArrivalsConfig c;
  c.process = Process::Mmpp;
  c.mmpp = {{1e-9, 1e-3}, {0, 1e-3}};  // thousands of millions of states until the longest run is over
  const std::atomic<bool> stop{true};
  CHECK(make_arrival_process(c, 1, "workload/arrivals", StopFlag(&stop))->next() == core::Time::never());
}

TEST_CASE("no process announces an arrival beyond the longest run") {
  for (const Process process : {Process::Poisson, Process::Constant, Process::Diurnal}) {
    const auto p = make_arrival_process(at_rate(process, 2e-5), 3, "workload/arrivals");
    core::Time last;
    for (core::Time t = p->next(); t != core::Time::never(); t = p->next()) last = t;
    CHECK(last <= core::end_of_time());
    CHECK(core::to_seconds(last) > core::longest_run_s / 2);
  }
}
