#include "core/error.hpp"
#include "workload/arrivals.hpp"
#include "workload/request_draws.hpp"
#include "workload/sources.hpp"

#include <functional>
#include <limits>
#include <queue>
#include <utility>

namespace servecast::workload {

namespace {

// Each client sends its next request the instant its last one ended. Lengths belong to the order of sending.
class ClosedLoop final : public Source {
 public:
  ClosedLoop(const WorkloadConfig& c, std::uint64_t seed, LengthGate gate, SourceReport& report, StopFlag stop)
      : draws_(c, seed, gate, report), stop_(stop), end_(c.duration_s ? instant(*c.duration_s) : core::Time::never()) {
    if (c.closed_loop->requests) requests_ = left_ = static_cast<std::uint64_t>(*c.closed_loop->requests);
    for (std::int64_t i = 0; i < c.closed_loop->concurrency; ++i) free_.push(core::Time{});
    prepare();
  }

  core::Time next_arrival() override { return ready_ && !free_.empty() ? free_.top() : core::Time::never(); }

  Request take() override {
    SERVECAST_ENSURE(next_arrival() != core::Time::never(), "no client of the closed loop is free");
    Request request = std::move(*ready_);
    request.arrival = free_.top();
    free_.pop();
    prepare();
    return request;
  }

  void ended(RequestId, core::Time now) override {
    if (now <= end_) free_.push(now);
  }

  bool reacts() const override { return ready_.has_value(); }
  std::optional<std::uint64_t> total() const override { return requests_; }

 private:
  void prepare() {
    ready_.reset();
    while (left_ > 0 && !stop_.raised()) {
      --left_;
      Request request;
      if (!draws_.draw(request)) continue;
      request.id = {next_id_++};
      ready_ = std::move(request);
      return;
    }
  }

  RequestDraws draws_;
  StopFlag stop_;
  core::Time end_;
  std::optional<std::uint64_t> requests_;
  std::uint64_t left_ = std::numeric_limits<std::uint32_t>::max() - 1;
  std::uint32_t next_id_ = 0;
  std::optional<Request> ready_;
  std::priority_queue<core::Time, std::vector<core::Time>, std::greater<>> free_;  // instants at which clients may send
};

}  // namespace

std::unique_ptr<Source> make_closed_loop(const WorkloadConfig& c, std::uint64_t seed, LengthGate gate,
                                         SourceReport& report, StopFlag stop) {
  return std::make_unique<ClosedLoop>(c, seed, gate, report, stop);
}

}  // namespace servecast::workload
