// The answer of a run as plain data: what result.json and the summary print. A part that a run does not have (a price,
// targets, a timeline of energy) is absent rather than zero; a figure over nothing (a latency where no request
// completed, a price where no token was delivered) holds 0 here and is shown as unknown. Units are in the names; shares
// are 0 to 1.
#pragma once

#include "metrics/confidence.hpp"
#include "metrics/cost.hpp"
#include "metrics/energy.hpp"
#include "metrics/latency.hpp"
#include "metrics/precision_use.hpp"
#include "metrics/throughput.hpp"
#include "metrics/utilisation.hpp"
#include "metrics/verdict.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace servecast::metrics {

// Cached prefixes below the GPU, over the replicas of a pool. Hits count for the tier they were found in; what NVMe
// gives passes the host, too. Bytes are per GPU; a link's use is over the life of the replicas.
struct TierFigures {
  std::int64_t device_hit_tokens = 0, host_hit_tokens = 0, nvme_hit_tokens = 0;
  std::int64_t loaded_blocks = 0, stored_blocks = 0;  // from and to the host
  std::int64_t nvme_read_blocks = 0, nvme_written_blocks = 0;
  double block_bytes = 0;
  double load_link_use = 0, store_link_use = 0, nvme_read_use = 0, nvme_write_use = 0;
  double held_up = 0;  // share of step time that steps took longer for transfers
};

// Memory of one pool. Bytes are per GPU, blocks and tokens per replica (one data-parallel rank), counts over the pool.
struct PoolMemory {
  std::string pool;
  std::int64_t replicas = 0;
  std::int64_t gpus = 0;  // of the whole pool
  double weights_bytes = 0;
  double kv_bytes = 0;
  double other_bytes = 0;       // activations, graphs, runtime
  std::int64_t blocks = 0;      // and tokens: as the engine logs them, a block that it never hands out included
  std::int32_t block_size = 0;  // tokens
  std::int64_t kv_tokens = 0;
  double peak_use = 0;  // of the blocks of the fullest replica
  double mean_use = 0;  // over the life of the replicas
  KvUse use;
  std::int64_t preemptions = 0;
  std::optional<double> prefix_hit_rate;   // hit tokens / queried tokens; none without prefix caching
  std::optional<double> saved_by_sharing;  // 1 - blocks used / blocks that requests count as theirs, over time
  std::int64_t swapped_out_blocks = 0, swapped_in_blocks = 0;
  std::int64_t copied_blocks = 0;    // on write
  std::optional<TierFigures> tiers = {};  // where prefixes are kept below the GPU
};

// Where the step times came from: shares of busy time by the kind of number that decided them.
struct OriginShares {
  double measured = 0, derived = 0, datasheet = 0, assumed = 0;
  double extrapolated = 0;  // of the same time, outside a table's grid
};

struct InputHash {
  std::string name;    // "scenario", "model" ...
  std::string sha256;  // or another stated digest, hexadecimal
};

struct Result {
  std::string scenario;  // name
  Verdict verdict;
  RequestCounts requests;
  std::map<std::string, std::int64_t, std::less<>> rejections;  // by reason
  std::optional<double> duration_s;
  std::int64_t gpus = 0;
  std::optional<Latency> latency;
  std::optional<Throughput> throughput;
  std::optional<Goodput> goodput;  // when targets are stated
  Targets targets;
  double target_percentile = 99;
  std::vector<PoolMemory> memory;
  std::optional<PrecisionUse> precision;  // where a policy chose formats
  std::optional<TimeShares> time;
  std::optional<std::string> limiting_resource;
  std::optional<EnergyUse> energy;
  std::string no_energy;  // why a run that has none lacks it
  std::optional<TokenCost> cost;
  std::optional<Confidence> confidence;
  std::optional<OriginShares> origin;
  std::int64_t steps = 0;             // engine steps simulated
  std::vector<std::string> cautions;  // what changes the meaning of the verdict; shown with it
  std::vector<std::string> warnings;
  std::uint64_t seed = 0;
  std::string fingerprint;
  std::string tool_version;
  std::vector<InputHash> inputs;
  bool partial = false;  // interrupted: everything covers the simulated part only
};

// Whether rates over the duration mean anything: something arrived and time passed.
inline bool has_rates(const Result& r) { return r.duration_s.value_or(0) > 0 && r.requests.arrived > 0; }

}  // namespace servecast::metrics
