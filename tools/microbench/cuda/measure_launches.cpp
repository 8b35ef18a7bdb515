// What launching costs: kernels one after another, one with waiting for it, and graphs of empty kernels.
#include "microbench/cuda/kernels.hpp"
#include "microbench/cuda/measures.hpp"

#include <chrono>

namespace servecast::microbench::cuda {

namespace {

constexpr int in_a_row = 1000;  // below the depth of the launch queue, so that the host never waits for the device

template <class Work>
double us_of(Work work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count();
}

struct EmptyGraph {
  cudaGraphExec_t exec = nullptr;
  EmptyGraph(cudaStream_t s, std::int64_t kernels) {
    cudaGraph_t graph = nullptr;
    check(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal), "graph capture");
    for (std::int64_t i = 0; i < kernels; ++i) empty_kernel(s);
    check(cudaStreamEndCapture(s, &graph), "graph capture");
    const cudaError_t error = cudaGraphInstantiate(&exec, graph, 0);
    cudaGraphDestroy(graph);
    check(error, "cudaGraphInstantiate");
  }
  ~EmptyGraph() { cudaGraphExecDestroy(exec); }
  EmptyGraph(const EmptyGraph&) = delete;
  EmptyGraph& operator=(const EmptyGraph&) = delete;
};

double launches(Context& c, int count) {
  const double us = us_of([&] {
    for (int i = 0; i < count; ++i) empty_kernel(c.stream);
  });
  check(cudaStreamSynchronize(c.stream), "empty kernels");
  return us / count;
}

double replay(Context& c, const EmptyGraph& graph) {
  return us_of([&] {
    check(cudaGraphLaunch(graph.exec, c.stream), "cudaGraphLaunch");
    check(cudaStreamSynchronize(c.stream), "graph");
  });
}

}  // namespace

Outcome measure_launches(Context& c, const Machine& m, const Timing& t) {
  Outcome out;
  out.kernel_source = "servecast_empty";
  launches(c, in_a_row);
  check_launch("empty kernel");
  if (m.quantity == Quantity::GraphKernel) {
    // by the device's clock, of kernels that follow each other in a graph
    const auto launch = [&](cudaStream_t s) {
      for (std::int64_t i = 0; i < m.detail; ++i) empty_kernel(s);
    };
    time_launch(c, launch, Timing{t.repeats, false}, out);
    for (double& sample : out.samples) sample /= static_cast<double>(m.detail);
    return out;
  }
  if (m.quantity == Quantity::GraphLaunch) {
    const EmptyGraph graph(c.stream, m.detail);
    for (int i = 0; i < 3; ++i) replay(c, graph);
    for (std::int64_t i = 0; i < t.repeats; ++i) out.samples.push_back(replay(c, graph));
  } else if (m.quantity == Quantity::LaunchInterval) {
    for (std::int64_t i = 0; i < t.repeats; ++i) out.samples.push_back(launches(c, in_a_row));
  } else {
    for (std::int64_t i = 0; i < t.repeats * 8; ++i)
      out.samples.push_back(us_of([&] {
        empty_kernel(c.stream);
        check(cudaStreamSynchronize(c.stream), "empty kernel");
      }));
  }
  out.clocks = c.nvml.read();
  return out;
}

}  // namespace servecast::microbench::cuda
