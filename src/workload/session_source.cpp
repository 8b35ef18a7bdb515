#include "core/error.hpp"
#include "workload/arrivals.hpp"
#include "workload/lengths.hpp"
#include "workload/prefix.hpp"
#include "workload/sources.hpp"

#include <boost/unordered/unordered_flat_map.hpp>
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <queue>
#include <utility>

namespace servecast::workload {

namespace {

// Law of a pause, by inversion.
class ThinkTime {
 public:
  explicit ThinkTime(const ThinkTimeConfig& c) : c_(c) {
    if (c.distribution != Think::Lognormal) return;
    sigma_ = lognormal_sigma(c.mean_s, *c.p99_s).value_or(0);
    mu_ = std::log(c.mean_s) - sigma_ * sigma_ / 2;
  }
  double at(double u) const {
    switch (c_.distribution) {
      case Think::Exponential: return -c_.mean_s * std::log(u);
      case Think::Lognormal: return std::exp(mu_ + sigma_ * core::normal_quantile(u));
      case Think::Fixed: break;
    }
    return c_.mean_s;
  }

 private:
  ThinkTimeConfig c_;
  double mu_ = 0;
  double sigma_ = 0;
};

std::int64_t turns_at(const TurnsConfig& c, double u) {
  if (c.distribution == Turns::Fixed) return static_cast<std::int64_t>(c.mean);
  if (c.mean <= 1) return 1;
  const double turns = 1 + std::floor(std::log(u) / std::log1p(-1 / c.mean));
  return static_cast<std::int64_t>(std::min(turns, 1e9));
}

// One conversation. Its draws come from a stream of its own, the same number each turn, so that they depend on
// (session, turn) and not on when turns end.
struct Session {
  core::Random random;
  std::uint32_t index = 0;
  std::int64_t turns_left = 0;
  std::size_t application = 0;
  std::int64_t context = 0;  // tokens of the system prompt and all finished turns
  std::int32_t prompt = 0;   // of the turn that waits or runs
  std::int32_t output = 0;
};

struct Turn {
  core::Time at;
  std::uint64_t order = 0;  // of scheduling: breaks ties
  std::uint32_t slot = 0;
  bool operator>(const Turn& other) const { return at != other.at ? at > other.at : order > other.order; }
};

class SessionSource final : public Source {
 public:
  SessionSource(const WorkloadConfig& c, std::uint64_t seed, LengthGate gate, SourceReport& report, StopFlag stop)
      : c_(*c.sessions),
        seed_(seed),
        gate_(gate),
        report_(&report),
        stop_(stop),
        starts_(make_arrival_process(c_.arrivals, seed, "workload/sessions/arrivals", stop)),
        application_(WeightedChoice::zipf(c_.applications, c_.zipf)),
        think_(c_.think_time),
        first_(c_.first_input_tokens),
        followup_(c_.followup_input_tokens),
        output_(*c.output_tokens),
        end_(c.duration_s ? core::Time{} + core::seconds(*c.duration_s) : core::end_of_time()) {
    if (c.requests) requests_ = left_ = static_cast<std::uint64_t>(*c.requests);
    if (c_.count) sessions_left_ = static_cast<std::uint64_t>(*c_.count);
    begin_session();
  }

  core::Time next_arrival() override { return left_ > 0 && !turns_.empty() ? turns_.top().at : core::Time::never(); }

  Request take() override;
  void ended(RequestId id, core::Time now) override;
  bool reacts() const override { return left_ > 0 && (!running_.empty() || !turns_.empty()); }
  std::optional<std::uint64_t> total() const override { return requests_; }

 private:
  void begin_session();
  bool schedule_turn(std::uint32_t slot, const Lengths& input, core::Time earliest, bool thinks);
  Content content_of(const Session& session) const;

  SessionsConfig c_;
  std::uint64_t seed_;
  LengthGate gate_;
  SourceReport* report_;
  StopFlag stop_;
  std::unique_ptr<ArrivalProcess> starts_;
  WeightedChoice application_;
  ThinkTime think_;
  Lengths first_;
  Lengths followup_;
  Lengths output_;
  core::Time end_;
  std::optional<std::uint64_t> requests_;
  std::uint64_t left_ = std::numeric_limits<std::uint32_t>::max() - 1;
  std::uint64_t sessions_left_ = std::numeric_limits<std::uint32_t>::max() - 1;
  std::uint32_t next_session_ = 0;
  std::uint32_t next_id_ = 0;
  std::uint64_t next_order_ = 0;
  std::uint32_t newest_ = 0;  // slot of the session whose first turn waits
  std::vector<Session> sessions_;
  std::vector<std::uint32_t> free_slots_;
  std::priority_queue<Turn, std::vector<Turn>, std::greater<>> turns_;
  boost::unordered_flat_map<std::uint32_t, std::uint32_t> running_;  // request id -> slot; looked up, never iterated
};

// Draws the next session that can begin and puts its first turn in the queue.
void SessionSource::begin_session() {
  newest_ = std::numeric_limits<std::uint32_t>::max();
  while (sessions_left_ > 0 && !stop_.raised()) {
    const core::Time at = starts_->next();
    if (at == core::Time::never() || at > end_) break;
    --sessions_left_;
    ++report_->sessions;
    Session session{core::Random(seed_, fmt::format("workload/sessions/{}", next_session_)), next_session_};
    ++next_session_;
    session.application = application_.at(session.random.uniform());
    session.turns_left = turns_at(c_.turns, session.random.uniform_open());
    session.context = c_.system_prompt_tokens;
    if (free_slots_.empty()) {
      free_slots_.push_back(static_cast<std::uint32_t>(sessions_.size()));
      sessions_.push_back(session);
    }
    const std::uint32_t slot = free_slots_.back();
    free_slots_.pop_back();
    sessions_[slot] = session;
    if (!schedule_turn(slot, first_, at, false)) continue;
    newest_ = slot;
    return;
  }
  sessions_left_ = 0;
}

// False when the session ends instead; its slot is then free again.
bool SessionSource::schedule_turn(std::uint32_t slot, const Lengths& input, core::Time earliest, bool thinks) {
  Session& session = sessions_[slot];
  const std::int32_t new_input = input.at(session.random.uniform_open());
  session.output = output_.at(session.random.uniform_open());
  const double pause_s = think_.at(session.random.uniform_open());
  const std::int64_t prompt = session.context + new_input;
  if (!gate_.fits(prompt, session.output)) {
    if (gate_.policy() == Overlong::Error) gate_.refuse(prompt, session.output, {nullptr, report_->offered});
    ++report_->sessions_cut;
    free_slots_.push_back(slot);
    return false;
  }
  const core::Duration pause = thinks ? core::seconds(std::min(pause_s, core::longest_run_s)) : core::Duration{};
  if (earliest + pause > end_) {
    free_slots_.push_back(slot);
    return false;
  }
  session.prompt = static_cast<std::int32_t>(prompt);
  --session.turns_left;
  turns_.push({earliest + pause, next_order_++, slot});
  return true;
}

Content SessionSource::content_of(const Session& session) const {
  Content content;
  if (c_.system_prompt_tokens > 0) {
    content.pieces.push_back({chain_id(ChainKind::Application, session.application), c_.system_prompt_tokens});
  }
  content.tail = chain_id(ChainKind::Session, session.index);
  content.pieces.push_back({content.tail, session.prompt});
  return content;
}

Request SessionSource::take() {
  SERVECAST_ENSURE(next_arrival() != core::Time::never(), "no turn is due");
  const Turn turn = turns_.top();
  turns_.pop();
  const Session& session = sessions_[turn.slot];
  Request request;
  request.id = {next_id_++};
  request.arrival = turn.at;
  request.prompt_tokens = session.prompt;
  request.hidden.output_tokens = session.output;
  request.session = session.index;
  request.content = content_of(session);
  running_.emplace(request.id.value, turn.slot);
  --left_;
  ++report_->offered;
  if (turn.slot == newest_) begin_session();
  return request;
}

void SessionSource::ended(RequestId id, core::Time now) {
  const auto found = running_.find(id.value);
  SERVECAST_ENSURE(found != running_.end(), "request {} ended but is not running", id.value);
  const std::uint32_t slot = found->second;
  running_.erase(found);
  Session& session = sessions_[slot];
  session.context = std::int64_t{session.prompt} + session.output;
  if (session.turns_left == 0) {
    free_slots_.push_back(slot);
    return;
  }
  schedule_turn(slot, followup_, now, true);
}

}  // namespace

std::unique_ptr<Source> make_sessions(const WorkloadConfig& c, std::uint64_t seed, LengthGate gate,
                                      SourceReport& report, StopFlag stop) {
  return std::make_unique<SessionSource>(c, seed, gate, report, stop);
}

}  // namespace servecast::workload
