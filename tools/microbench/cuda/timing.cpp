#include "microbench/cuda/context.hpp"
#include "microbench/cuda/kernels.hpp"

#include <algorithm>
#include <cmath>

namespace servecast::microbench::cuda {

namespace {

constexpr double wanted_us = 500;  // work between two events: their resolution of half a us weighs a thousandth
constexpr int most_launches = 200;
constexpr int warm_ups = 3;

class Event {
 public:
  Event() { check(cudaEventCreate(&event_), "cudaEventCreate"); }
  ~Event() { cudaEventDestroy(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  void record(cudaStream_t s) const { check(cudaEventRecord(event_, s), "cudaEventRecord"); }
  double us_since(const Event& begin) const {
    float ms = 0;
    check(cudaEventSynchronize(event_), "kernel");
    check(cudaEventElapsedTime(&ms, begin.event_, event_), "cudaEventElapsedTime");
    return static_cast<double>(ms) * 1e3;
  }

 private:
  cudaEvent_t event_ = nullptr;
};

class Graph {
 public:
  Graph(cudaStream_t s, const Launch& launch, int launches) {
    cudaGraph_t graph = nullptr;
    check(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal), "graph capture");
    for (int i = 0; i < launches; ++i) launch(s);
    check(cudaStreamEndCapture(s, &graph), "graph capture");
    const cudaError_t error = cudaGraphInstantiate(&graph_, graph, 0);
    cudaGraphDestroy(graph);
    check(error, "cudaGraphInstantiate");
  }
  ~Graph() { cudaGraphExecDestroy(graph_); }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  void replay(cudaStream_t s) const { check(cudaGraphLaunch(graph_, s), "cudaGraphLaunch"); }

 private:
  cudaGraphExec_t graph_ = nullptr;
};

void overwrite_l2(Context& c) { write_words(c.flush->data(), c.flush->count() * 4, 1, c.blocks(), c.stream); }

double once(Context& c, const Launch& launch) {
  const Event begin, end;
  begin.record(c.stream);
  launch(c.stream);
  check_launch("kernel launch");
  end.record(c.stream);
  return end.us_since(begin);
}

double timed_cold(Context& c, const Launch& launch, Clocks* clocks) {
  const Event begin, end;
  overwrite_l2(c);  // takes long enough for what follows to be queued before it ends
  begin.record(c.stream);
  launch(c.stream);
  end.record(c.stream);
  if (clocks != nullptr) *clocks = c.nvml.read();
  return end.us_since(begin);
}

}  // namespace

void time_launch(Context& c, const Launch& launch, const Timing& timing, Outcome& out) {
  double us = 0;
  for (int i = 0; i < warm_ups; ++i) us = once(c, launch);
  const std::int64_t middle = timing.repeats / 2;
  if (timing.cold) {
    for (std::int64_t i = 0; i < timing.repeats; ++i)
      out.samples.push_back(timed_cold(c, launch, i == middle ? &out.clocks : nullptr));
    return;
  }
  const int launches =
      static_cast<int>(std::clamp(std::ceil(wanted_us / std::max(us, 0.5)), 1.0, double{most_launches}));
  const Graph graph(c.stream, launch, launches);
  graph.replay(c.stream);
  for (std::int64_t i = 0; i < timing.repeats; ++i) {
    const Event begin, end;
    begin.record(c.stream);
    graph.replay(c.stream);
    end.record(c.stream);
    if (i == middle) out.clocks = c.nvml.read();
    out.samples.push_back(end.us_since(begin) / launches);
  }
}

void to_gb_per_s(double bytes, Outcome& out) {
  for (double& sample : out.samples) sample = bytes / sample / 1e3;
}

Outcome refused(std::string why) {
  Outcome out;
  out.refused = std::move(why);
  return out;
}

}  // namespace servecast::microbench::cuda
