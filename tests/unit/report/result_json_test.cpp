#include "report/result_json.hpp"

#include "catch.hpp"
#include "sample_result.hpp"

using namespace servecast;
using namespace servecast::report;

TEST_CASE("a full result has every name of the contract") {
  CHECK(result_json(sample::full()) == R"({
  "scenario": "chat-70b-b200",
  "verdict": "stable",
  "reason": "requests were served as fast as they arrived",
  "load_factor": 0.625,
  "requests": {
    "arrived": 20000,
    "completed": 19990,
    "unfinished": 3,
    "rejected": 7,
    "preempted": 12,
    "prompt_tokens": 23100000,
    "output_tokens": 4220000,
    "rejected_by_reason": {
      "longer than max_model_len 16384": 7
    }
  },
  "duration_s": 1000,
  "gpus": 8,
  "latency": {
    "ttft_ms": {
      "mean": 350,
      "p50": 312,
      "p90": 610,
      "p95": 780.5,
      "p99": 1240.25,
      "max": 2500
    },
    "tpot_ms": {
      "mean": 31.5,
      "p50": 30,
      "p90": 36,
      "p95": 37,
      "p99": 38.25,
      "max": 45
    },
    "itl_ms": {
      "mean": 31,
      "p50": 29.5,
      "p90": 40,
      "p95": 44,
      "p99": 60.5,
      "max": 400
    },
    "e2e_ms": {
      "mean": 7000,
      "p50": 6500,
      "p90": 12000,
      "p95": 15000,
      "p99": 19500,
      "max": 31000
    }
  },
  "throughput": {
    "requests_per_s": 19.99,
    "output_tokens_per_s": 4220,
    "total_tokens_per_s": 27320,
    "output_tokens_per_s_per_gpu": 527.5,
    "tokens_per_s_per_user": 31.75
  },
  "goodput_requests_per_s": 19.8,
  "slo_attainment": 0.99,
  "memory": {
    "serve": {
      "replicas": 4,
      "gpus": 8,
      "weights_bytes": 40000000000,
      "kv_bytes": 120000000000,
      "other_bytes": 5000000000,
      "blocks": 30424,
      "block_size": 16,
      "kv_tokens": 486784,
      "peak_use": 0.71,
      "mean_use": 0.4,
      "kv_use": {
        "token_states": 0.375,
        "reservation": 0,
        "internal_fragmentation": 0.025,
        "external_fragmentation": 0,
        "free": 0.6
      },
      "prefix_hit_rate": 0.25,
      "preemptions": 12
    }
  },
  "time": {
    "compute": 0.2,
    "memory": 0.4,
    "network": 0.0625,
    "host": 0.0375,
    "idle": 0.3
  },
  "limiting_resource": "memory_bandwidth",
  "energy": {
    "joules_per_output_token": 1.47,
    "joules_per_token": 0.227,
    "mean_w": 6200,
    "peak_w": 7900,
    "mean_gpu_w": 650,
    "joules": 6200000,
    "origin": "calibrated"
  },
  "cost": {
    "usd_per_million_output_tokens": 1.527,
    "usd_per_million_input_tokens": 0.279,
    "usd_per_million_blended_tokens": 0.236,
    "usd_per_gpu_hour": 2.9,
    "usd": 6.444
  },
  "confidence": {
    "half_width": {
      "ttft_ms": 3.25,
      "tpot_ms": 0.5,
      "e2e_ms": 90
    },
    "warmup_dropped": 200,
    "warmup_conclusive": true,
    "effective_samples": 4312,
    "lag1_correlation": 0.05
  },
  "origin": {
    "measured": 0,
    "derived": 0.25,
    "datasheet": 0.5,
    "assumed": 0.25,
    "extrapolated": 0.1
  },
  "steps": 123456,
  "warnings": [
    "the step cost is not calibrated for this GPU: figures rest on datasheet peaks and assumed efficiencies"
  ],
  "seed": 1,
  "fingerprint": "0123456789abcdef",
  "tool_version": "0.1.0",
  "inputs": {
    "scenario": "aa11",
    "model": "bb22"
  }
}
)");
}

TEST_CASE("tiers below the GPU are figures of the pool that has them") {
  metrics::Result r = sample::full();
  CHECK(result_json(r).find("offload") == std::string::npos);
  r.memory[0].tiers = metrics::TierFigures{800, 150, 50, 20, 30, 4, 6, 1000.0, 0.125, 0.25, 0.5, 0.75, 0.0625};
  CHECK_THAT(result_json(r), Catch::Contains(R"("offload": {
        "device_hit_tokens": 800,
        "host_hit_tokens": 150,
        "nvme_hit_tokens": 50,
        "loaded_blocks": 20,
        "loaded_bytes": 20000,
        "stored_blocks": 30,
        "stored_bytes": 30000,
        "nvme_read_blocks": 4,
        "nvme_read_bytes": 4000,
        "nvme_written_blocks": 6,
        "nvme_written_bytes": 6000,
        "load_link_utilisation": 0.125,
        "store_link_utilisation": 0.25,
        "nvme_read_utilisation": 0.5,
        "nvme_write_utilisation": 0.75,
        "held_up_share": 0.0625
      })"));
}

TEST_CASE("an infeasible result says why and invents nothing") {
  CHECK(result_json(sample::infeasible()) == R"({
  "scenario": "too-big",
  "verdict": "infeasible",
  "reason": "weights need 203 GiB per GPU, 160 GiB are available",
  "warnings": [],
  "seed": 1,
  "tool_version": "0.1.0",
  "inputs": {}
}
)");
}

TEST_CASE("an interrupted run is marked") {
  metrics::Result r = sample::full();
  r.partial = true;
  CHECK(result_json(r).find("\"partial\": true") != std::string::npos);
  CHECK(result_json(sample::full()).find("partial") == std::string::npos);
}

TEST_CASE("the same result gives the same bytes") { CHECK(result_json(sample::full()) == result_json(sample::full())); }

TEST_CASE("what nothing stands behind is null, not 0") {
  metrics::Result r = sample::full();
  r.requests = {};
  r.duration_s = 0;
  r.latency = metrics::Latency{};
  r.throughput = metrics::Throughput{};
  r.goodput = metrics::Goodput{};
  r.cost = metrics::TokenCost{};
  r.energy.reset();
  r.no_energy = "mi300x states no idle power";
  const std::string text = result_json(r);
  for (const char* key : {"mean", "p99", "requests_per_s", "tokens_per_s_per_user", "slo_attainment", "energy",
                          "usd_per_million_output_tokens"}) {
    INFO(key);
    CHECK(text.find("\"" + std::string(key) + "\": null") != std::string::npos);
  }
  CHECK(text.find("no energy: mi300x states no idle power") != std::string::npos);
}

TEST_CASE("a verdict that is not conclusive says so, and cautions lead the warnings") {
  metrics::Result r = sample::full();
  r.verdict.conclusive = false;
  r.cautions = {"42.0 % of the requests were cut"};
  const std::string text = result_json(r);
  CHECK(text.find("\"conclusive\": false") != std::string::npos);
  CHECK(text.find("\"warnings\": [\n    \"42.0 % of the requests were cut\"") != std::string::npos);
}
