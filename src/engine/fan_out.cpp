#include "engine/fan_out.hpp"

#include "core/error.hpp"
#include "engine/constant_time.hpp"
#include "workload/prefix.hpp"

#include <boost/unordered/unordered_flat_map.hpp>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

namespace servecast::engine {
namespace {

using core::Time;
using workload::RequestId;

class FanOut final : public Replica, private Observer {
 public:
  FanOut(const Config& config, const cost::StepCost& cost, Observer& observer)
      : observer_(observer),
        samples_(config.samples),
        goes_ahead_(config.steps == StepKind::PrefillFirst),
        learns_late_(config.async_scheduling) {
    Config single = config;
    single.samples = 1;
    inner_ = make_replica(single, cost, *this, true);
  }

  void enqueue(const workload::Request& request, std::int32_t rank) override;
  Run advance(Time now, Time horizon, const cost::LinkOffer& offer) override;
  Run cut(Time t) override { return inner_->cut(t); }
  Run stop(Time t) override { return inner_->stop(t); }
  void commit() override;
  bool running() const override { return inner_->running(); }
  bool has_work() const override { return inner_->has_work() || !computed_.empty(); }
  Load load(std::int32_t rank) const override { return inner_->load(rank); }
  SlotUse slots(std::int32_t rank) const override { return inner_->slots(rank); }
  Totals totals() const override { return inner_->totals(); }
  std::span<const Transfer> transfers() const override { return inner_->transfers(); }

 private:
  struct Parent {
    workload::Request prompt;  // of its sequences, while one goes ahead
    std::int32_t rank = 0;
    std::int32_t ended = 0;
    bool started = false;
    Time last;  // end of a sequence
  };

  std::uint32_t each() const { return static_cast<std::uint32_t>(samples_ + (goes_ahead_ ? 1 : 0)); }
  RequestId parent_of(RequestId id) const { return {id.value / each()}; }
  bool ahead(RequestId id) const { return goes_ahead_ && id.value % each() == each() - 1; }
  RequestId child(RequestId parent, std::int32_t index) const;
  void send(workload::Request request, std::int32_t rank);
  void send_computed();

  void first_token(RequestId id, Time at) override;
  void finished(RequestId id, Time at, std::int32_t output_tokens) override;
  void preempted(RequestId id, Time at) override { observer_.preempted(parent_of(id), at); }
  void prefix_lookup(RequestId id, std::int32_t queried, std::int32_t hit, bool again) override {
    observer_.prefix_lookup(parent_of(id), queried, hit, again);
  }
  void token_gap(core::Duration gap, std::int64_t weight) override { observer_.token_gap(gap, weight); }
  void token_gaps(Time since, std::span<const Time> ends, std::int64_t weight) override {
    observer_.token_gaps(since, ends, weight);
  }

  Observer& observer_;
  std::int32_t samples_;
  bool goes_ahead_;
  bool learns_late_;
  std::unique_ptr<Replica> inner_;
  boost::unordered_flat_map<std::uint32_t, Parent> parents_;  // by id; never iterated
  std::vector<RequestId> computed_;                           // prompts whose sequences have yet to be sent, in order
  std::vector<RequestId> ending_;                             // prompts that the commit in progress has computed
};

RequestId FanOut::child(RequestId parent, std::int32_t index) const {
  const std::uint64_t id = std::uint64_t{parent.value} * each() + static_cast<std::uint64_t>(index);
  SERVECAST_ENSURE(id <= std::numeric_limits<std::uint32_t>::max(), "{} requests of {} sequences exceed all ids",
                   parent.value, samples_);
  return {static_cast<std::uint32_t>(id)};
}

// The prompt's tokens get an identity that all sequences share; what follows is each one's own, but the first goes on
// with the request's chain where it has one.
void FanOut::enqueue(const workload::Request& request, std::int32_t rank) {
  workload::Request prompt = request;
  workload::Content& content = prompt.content;
  const std::int32_t shared = content.pieces.empty() ? 0 : content.pieces.back().end;
  if (shared < prompt.prompt_tokens) {
    const std::uint64_t own = workload::chain_id(workload::ChainKind::Prompt, request.id.value);
    content.pieces.push_back({content.tail != 0 ? content.tail : own, prompt.prompt_tokens});
  }
  Parent& parent = parents_[request.id.value];
  if (!goes_ahead_) return send(std::move(prompt), rank);
  parent.rank = rank;
  parent.prompt = prompt;
  prompt.id = child(request.id, samples_);
  prompt.hidden.output_tokens = prompt.max_tokens = 1;
  prompt.content.tail = 0;
  inner_->enqueue(prompt, rank);
}

void FanOut::send(workload::Request request, std::int32_t rank) {
  const RequestId parent = request.id;
  for (std::int32_t i = 0; i < samples_; ++i) {
    request.id = child(parent, i);
    inner_->enqueue(request, rank);
    request.content.tail = 0;
  }
}

void FanOut::send_computed() {
  for (const RequestId id : computed_) {
    Parent& parent = parents_[id.value];
    send(std::move(parent.prompt), parent.rank);
  }
  computed_.clear();
}

Run FanOut::advance(Time now, Time horizon, const cost::LinkOffer& offer) {
  Run run = inner_->advance(now, horizon, offer);
  if (run.steps > 0 || computed_.empty()) return run;
  send_computed();
  return inner_->advance(now, horizon, offer);
}

// An asynchronous scheduler learns of an end, and keeps the prompt in its cache, one step later.
void FanOut::commit() {
  inner_->commit();
  if (!learns_late_) computed_.swap(ending_);
  send_computed();
  computed_.swap(ending_);
}

void FanOut::first_token(RequestId id, Time at) {
  if (ahead(id)) return;
  Parent& parent = parents_[parent_of(id).value];
  if (!parent.started) observer_.first_token(parent_of(id), at);
  parent.started = true;
}

void FanOut::finished(RequestId id, Time at, std::int32_t output_tokens) {
  const RequestId parent_id = parent_of(id);
  if (ahead(id)) return ending_.push_back(parent_id);
  const auto entry = parents_.find(parent_id.value);
  Parent& parent = entry->second;
  parent.last = std::max(parent.last, at);
  if (++parent.ended < samples_) return;
  observer_.finished(parent_id, parent.last, output_tokens);
  parents_.erase(entry);
}

}  // namespace

std::unique_ptr<Replica> make_fan_out(const Config& config, const cost::StepCost& cost, Observer& observer) {
  SERVECAST_ENSURE(config.samples > 1, "{} sequences need no fan-out", config.samples);
  return std::make_unique<FanOut>(config, cost, observer);
}

}  // namespace servecast::engine
