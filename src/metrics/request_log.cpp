#include "metrics/request_log.hpp"

#include "core/error.hpp"

#include <algorithm>

namespace servecast::metrics {

namespace {

// Kinds of event in the fingerprint. Never renumber: pinned fingerprints depend on them.
constexpr std::uint64_t first_token_kind = 1;
constexpr std::uint64_t finish_kind = 2;
constexpr std::uint64_t preemption_kind = 3;
constexpr std::uint64_t rejection_kind = 4;

}  // namespace

Record& RequestLog::at(workload::RequestId id) {
  SERVECAST_ENSURE(id.value < records_.size(), "request {} was never announced; {} are known", id.value,
                   records_.size());
  return records_[id.value];
}

void RequestLog::arrived(const workload::Request& request, std::uint32_t replica) {
  SERVECAST_ENSURE(request.id.value == records_.size(), "request {} announced where {} was due", request.id.value,
                   records_.size());
  SERVECAST_ENSURE(counts_.arrived == 0 || request.arrival >= last_arrival_,
                   "request {} arrives at {} ps, before {} ps", request.id.value, request.arrival.ps, last_arrival_.ps);
  Record record;
  record.arrival = request.arrival;
  record.prompt_tokens = request.prompt_tokens;
  records_.push_back(record);
  if (rows_ == Rows::Kept) details_.push_back({static_cast<std::uint16_t>(std::min(replica, 0xffffu)), 0, -1});
  ++counts_.arrived;
  counts_.prompt_tokens += request.prompt_tokens;
  last_arrival_ = request.arrival;
}

void RequestLog::rejected(workload::RequestId id, core::Time when, std::string_view reason) {
  Record& record = at(id);
  SERVECAST_ENSURE(record.unfinished(), "request {} rejected after its end", id.value);
  record.output_tokens = Record::rejected_mark;
  record.finish = when;
  ++counts_.rejected;
  auto found = rejections_.find(reason);
  if (found == rejections_.end()) found = rejections_.emplace(std::string(reason), 0).first;
  ++found->second;
}

void RequestLog::first_token(workload::RequestId id, core::Time when) {
  Record& record = at(id);
  SERVECAST_ENSURE(record.first_token == core::Time::never() && when >= record.arrival,
                   "request {} has its first token at {} ps; arrival {} ps, earlier first token {} ps", id.value,
                   when.ps, record.arrival.ps, record.first_token.ps);
  record.first_token = when;
  ++counts_.first_tokens;
}

void RequestLog::finished(workload::RequestId id, core::Time when, std::int32_t output_tokens) {
  Record& record = at(id);
  SERVECAST_ENSURE(record.unfinished() && record.first_token <= when && output_tokens > 0,
                   "request {} finishes at {} ps with {} tokens; first token at {} ps, earlier finish {} ps", id.value,
                   when.ps, output_tokens, record.first_token.ps, record.finish.ps);
  record.finish = when;
  record.output_tokens = output_tokens;
  ++counts_.completed;
  counts_.prompt_tokens_completed += record.prompt_tokens;
  counts_.output_tokens += output_tokens;
  last_finish_ = std::max(last_finish_, when);
}

void RequestLog::preempted(workload::RequestId id, core::Time when) {
  at(id);
  ++counts_.preemptions;
  preemptions_.add(preemption_kind, id.value, when);
  if (was_preempted_.size() <= id.value) was_preempted_.resize(std::max<std::size_t>(records_.size(), id.value + 1u));
  if (!was_preempted_[id.value]) ++counts_.preempted;
  was_preempted_[id.value] = true;
  if (rows_ == Rows::Kept && details_[id.value].preemptions < 0xffff) ++details_[id.value].preemptions;
}

void RequestLog::prefix_lookup(workload::RequestId id, std::int32_t queried_tokens, std::int32_t hit_tokens,
                               bool after_preemption) {
  SERVECAST_ENSURE(hit_tokens >= 0 && hit_tokens <= queried_tokens, "request {}: {} of {} queried tokens hit", id.value,
                   hit_tokens, queried_tokens);
  if (after_preemption) {
    counts_.prefix_queried_tokens_preempted += queried_tokens;
    counts_.prefix_hit_tokens_preempted += hit_tokens;
    return;
  }
  counts_.prefix_queried_tokens += queried_tokens;
  counts_.prefix_hit_tokens += hit_tokens;
  if (rows_ == Rows::Kept && details_[id.value].cached_prompt_tokens < 0)
    details_[id.value].cached_prompt_tokens = hit_tokens;
}

void RequestLog::token_gap(core::Duration gap, std::int64_t weight) {
  gaps_.add(gap.ps, static_cast<std::uint64_t>(weight));
}

void RequestLog::token_gaps(core::Time since, std::span<const core::Time> ends, std::int64_t weight) {
  for (const core::Time end : ends) {
    gaps_.add((end - since).ps, static_cast<std::uint64_t>(weight));
    since = end;
  }
}

core::Fingerprint RequestLog::fingerprint() const {
  core::Fingerprint all = preemptions_;
  for (std::size_t i = 0; i < records_.size(); ++i) {
    const Record& record = records_[i];
    if (record.first_token != core::Time::never()) all.add(first_token_kind, i, record.first_token);
    if (!record.unfinished()) all.add(record.rejected() ? rejection_kind : finish_kind, i, record.finish);
  }
  return all;
}

}  // namespace servecast::metrics
