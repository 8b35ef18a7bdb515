// What happened to every request of a run: the observer the engine reports to, and the sums that later measures use.
// Requests become known in order of id; observations of different replicas may come in any order of time, because
// replicas run ahead of each other. Unfinished requests stay visible. Deliberately absent: any client-side constant.
#pragma once

#include "cluster/cluster.hpp"
#include "core/fingerprint.hpp"
#include "core/log_sketch.hpp"
#include "engine/replica.hpp"
#include "metrics/record_store.hpp"
#include "workload/request.hpp"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace servecast::metrics {

// Sums kept while observing; every one can be recomputed from the records, and conservation.hpp does.
struct RequestCounts {
  std::int64_t arrived = 0;
  std::int64_t completed = 0;
  std::int64_t rejected = 0;
  std::int64_t preempted = 0;  // requests preempted at least once
  std::int64_t preemptions = 0;
  std::int64_t first_tokens = 0;
  std::int64_t prompt_tokens = 0;  // of all arrived
  std::int64_t prompt_tokens_completed = 0;
  std::int64_t output_tokens = 0;          // of completed requests
  std::int64_t prefix_queried_tokens = 0;  // first lookups only
  std::int64_t prefix_hit_tokens = 0;
  std::int64_t prefix_queried_tokens_preempted = 0;
  std::int64_t prefix_hit_tokens_preempted = 0;
  std::int64_t unfinished() const { return arrived - completed - rejected; }
};

class RequestLog final : public engine::Observer, public cluster::ArrivalObserver {
 public:
  enum class Rows : std::uint8_t { None, Kept };  // Kept: details for requests.csv, 8 bytes a request

  explicit RequestLog(Rows rows = Rows::None) : rows_(rows) {}

  // Requires: ids arrive as 0, 1, 2 ...
  void arrived(const workload::Request& request, std::uint32_t replica) override;
  void rejected(workload::RequestId id, core::Time at, std::string_view reason);

  void first_token(workload::RequestId id, core::Time at) override;
  void finished(workload::RequestId id, core::Time at, std::int32_t output_tokens) override;
  void preempted(workload::RequestId id, core::Time at) override;
  void prefix_lookup(workload::RequestId id, std::int32_t queried_tokens, std::int32_t hit_tokens,
                     bool after_preemption) override;
  void token_gap(core::Duration gap, std::int64_t weight) override;
  void token_gaps(core::Time since, std::span<const core::Time> ends, std::int64_t weight) override;

  const Records& records() const { return records_; }
  bool has_details() const { return rows_ == Rows::Kept; }
  const RecordDetail& detail(std::size_t i) const { return details_[i]; }
  const RequestCounts& counts() const { return counts_; }
  const core::LogSketch& token_gaps() const { return gaps_; }  // picoseconds
  const std::map<std::string, std::int64_t, std::less<>>& rejections() const { return rejections_; }
  core::Time last_arrival() const { return last_arrival_; }
  core::Time last_finish() const { return last_finish_; }  // of a completed request; Time{} when none

  // Of every first token, finish, rejection and preemption with its instant. Does not depend on the order in which
  // replicas were simulated.
  core::Fingerprint fingerprint() const;

 private:
  Record& at(workload::RequestId id);

  Rows rows_;
  Records records_;
  ChunkedArray<RecordDetail> details_;
  std::vector<bool> was_preempted_;
  std::map<std::string, std::int64_t, std::less<>> rejections_;
  RequestCounts counts_;
  core::LogSketch gaps_;
  core::Fingerprint preemptions_;
  core::Time last_arrival_;
  core::Time last_finish_;
};

}  // namespace servecast::metrics
