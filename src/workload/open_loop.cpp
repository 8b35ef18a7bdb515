#include "core/units.hpp"
#include "workload/arrivals.hpp"
#include "workload/request_draws.hpp"
#include "workload/sources.hpp"

#include <fmt/core.h>

#include <limits>
#include <utility>

namespace servecast::workload {

namespace {

class OpenLoop final : public Source {
 public:
  OpenLoop(const WorkloadConfig& c, std::uint64_t seed, LengthGate gate, SourceReport& report, StopFlag stop)
      : arrivals_(make_arrival_process(*c.arrivals, seed, "workload/arrivals", stop)),
        draws_(c, seed, gate, report),
        report_(&report),
        stop_(stop),
        end_(c.duration_s ? instant(*c.duration_s) : core::Time::never()) {
    if (c.requests) requests_ = left_ = static_cast<std::uint64_t>(*c.requests);
    prepare();
  }

  core::Time next_arrival() override { return ready_.arrival; }

  Request take() override {
    Request request = std::move(ready_);
    prepare();
    return request;
  }

  std::optional<std::uint64_t> total() const override { return requests_; }

 private:
  void prepare() {
    ready_ = Request{};
    while (left_ > 0 && !stop_.raised()) {
      const core::Time at = arrivals_->next();
      if (at == core::Time::never() || at > end_) return finish(at == core::Time::never());
      --left_;
      if (!draws_.draw(ready_)) continue;
      ready_.arrival = at;
      ready_.id = {next_id_++};
      return;
    }
    left_ = 0;
    ready_.arrival = core::Time::never();
  }

  void finish(bool ran_out) {
    ready_.arrival = core::Time::never();
    if (ran_out && !stop_.raised() && requests_ && left_ > 0 && end_ == core::Time::never()) {
      report_->warnings.push_back(
          fmt::format("the arrival process ended {} early: its rate is 0 from then on, or they would come after "
                      "{:.0f} s, the longest run",
                      core::counted(static_cast<std::int64_t>(left_), "request"), core::longest_run_s));
    }
    left_ = 0;
  }

  std::unique_ptr<ArrivalProcess> arrivals_;
  RequestDraws draws_;
  SourceReport* report_;
  StopFlag stop_;
  core::Time end_;
  std::optional<std::uint64_t> requests_;
  std::uint64_t left_ = std::numeric_limits<std::uint32_t>::max() - 1;  // ids are 32 bits
  std::uint32_t next_id_ = 0;
  Request ready_;
};

}  // namespace

std::unique_ptr<Source> make_open_loop(const WorkloadConfig& c, std::uint64_t seed, LengthGate gate,
                                       SourceReport& report, StopFlag stop) {
  return std::make_unique<OpenLoop>(c, seed, gate, report, stop);
}

}  // namespace servecast::workload
