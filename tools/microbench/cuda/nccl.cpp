// All-reduce and all-to-all of NCCL: one process, one communicator and stream per GPU. Eager: groups of calls one after
// another; graph: each GPU replays a graph of its own. Times are of the measured GPU's stream.
#include "microbench/cuda/kernels.hpp"
#include "microbench/cuda/measures.hpp"
#include "microbench/host/codecs.hpp"

#include <functional>
#include <nccl.h>

namespace servecast::microbench::cuda {

namespace {

constexpr int calls = 20;  // between two events

void checked(ncclResult_t result, const char* what) {
  if (result != ncclSuccess) throw core::Error(fmt::format("{} failed: {}", what, ncclGetErrorString(result)));
}

struct Rank {
  int device = 0;
  cudaStream_t stream = nullptr;
  ncclComm_t comm = nullptr;
  std::uint16_t* in = nullptr;
  std::uint16_t* out = nullptr;
  cudaGraphExec_t graph = nullptr;
};

// The measured GPU first, then the others in order.
class World {
 public:
  World(int home, std::int64_t gpus, std::int64_t elements) : home_(home), elements_(elements) {
    std::vector<int> devices = {home};
    for (int d = 0; static_cast<std::int64_t>(devices.size()) < gpus; ++d)
      if (d != home) devices.push_back(d);
    std::vector<ncclComm_t> comms(devices.size());
    checked(ncclCommInitAll(comms.data(), static_cast<int>(devices.size()), devices.data()), "ncclCommInitAll");
    for (std::size_t i = 0; i < devices.size(); ++i)
      ranks_.push_back({devices[i], nullptr, comms[i], nullptr, nullptr, nullptr});
    for (std::size_t i = 0; i < ranks_.size(); ++i) open(ranks_[i], static_cast<int>(i));
    check(cudaSetDevice(home_), "cudaSetDevice");
  }
  ~World() {
    for (Rank& r : ranks_) {
      cudaSetDevice(r.device);
      if (r.graph != nullptr) cudaGraphExecDestroy(r.graph);
      ncclCommDestroy(r.comm);
      cudaFree(r.in), cudaFree(r.out);
      if (r.stream != nullptr) cudaStreamDestroy(r.stream);
    }
    cudaSetDevice(home_);
  }
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  const std::vector<Rank>& ranks() const { return ranks_; }

  void call(const Collective& p) const {
    const auto count = static_cast<std::size_t>(elements_);
    checked(ncclGroupStart(), "ncclGroupStart");
    for (const Rank& r : ranks_) {
      if (p.op == CollectiveOp::AllReduce)
        checked(ncclAllReduce(r.in, r.out, count, ncclBfloat16, ncclSum, r.comm, r.stream), "ncclAllReduce");
      else
        exchange(r, count / ranks_.size());
    }
    checked(ncclGroupEnd(), "ncclGroupEnd");
  }

  // A graph of `calls` collectives for every GPU.
  void capture(const Collective& p) {
    for (const Rank& r : ranks_) {
      check(cudaSetDevice(r.device), "cudaSetDevice");
      check(cudaStreamBeginCapture(r.stream, cudaStreamCaptureModeThreadLocal), "graph capture");
    }
    for (int i = 0; i < calls; ++i) call(p);
    for (Rank& r : ranks_) {
      cudaGraph_t graph = nullptr;
      check(cudaSetDevice(r.device), "cudaSetDevice");
      check(cudaStreamEndCapture(r.stream, &graph), "graph capture");
      const cudaError_t error = cudaGraphInstantiate(&r.graph, graph, 0);
      cudaGraphDestroy(graph);
      check(error, "cudaGraphInstantiate");
    }
    check(cudaSetDevice(home_), "cudaSetDevice");
  }
  void replay() const {
    for (const Rank& r : ranks_) {
      check(cudaSetDevice(r.device), "cudaSetDevice");
      check(cudaGraphLaunch(r.graph, r.stream), "cudaGraphLaunch");
    }
    check(cudaSetDevice(home_), "cudaSetDevice");
  }
  void wait() const {
    for (const Rank& r : ranks_) check(cudaStreamSynchronize(r.stream), "collective");
  }

 private:
  // Element i of rank r holds i % 7 + r: sums and places are exact in BF16.
  void open(Rank& r, int rank) const {
    const auto bytes = static_cast<std::size_t>(elements_) * 2;
    check(cudaSetDevice(r.device), "cudaSetDevice");
    check(cudaStreamCreateWithFlags(&r.stream, cudaStreamNonBlocking), "cudaStreamCreate");
    check(cudaMalloc(reinterpret_cast<void**>(&r.in), bytes), "cudaMalloc");
    check(cudaMalloc(reinterpret_cast<void**>(&r.out), bytes), "cudaMalloc");
    fill_integers(r.in, elements_, rank, r.stream);
    check_launch("filling the buffers");
  }
  void exchange(const Rank& r, std::size_t each) const {
    for (std::size_t peer = 0; peer < ranks_.size(); ++peer) {
      const auto other = static_cast<int>(peer);
      checked(ncclSend(r.in + peer * each, each, ncclBfloat16, other, r.comm, r.stream), "ncclSend");
      checked(ncclRecv(r.out + peer * each, each, ncclBfloat16, other, r.comm, r.stream), "ncclRecv");
    }
  }

  int home_;
  std::int64_t elements_;
  std::vector<Rank> ranks_;
};

std::string difference(const World& w, const Collective& p) {
  const auto n = static_cast<std::int64_t>(w.ranks().size());
  for (std::int64_t rank = 0; rank < n; ++rank)
    for (const std::int64_t at : {std::int64_t{0}, p.elements / 3, p.elements - 1}) {
      std::uint16_t got = 0;
      check(cudaMemcpy(&got, w.ranks()[static_cast<std::size_t>(rank)].out + at, 2, cudaMemcpyDefault),
            "copy from the device");
      const std::int64_t each = p.elements / n, sender = at / each;
      const std::int64_t expected =
          p.op == CollectiveOp::AllReduce ? at % 7 * n + n * (n - 1) / 2 : (rank * each + at % each) % 7 + sender;
      if (codec::bf16_to_float(got) != static_cast<float>(expected))
        return fmt::format("rank {} element {} is {} instead of {}", rank, at, codec::bf16_to_float(got), expected);
    }
  return "";
}

// us of one collective by events around `work`, which does `calls` of them.
double sample(const World& w, const std::function<void()>& work) {
  const Rank& first = w.ranks()[0];
  cudaEvent_t begin = nullptr, end = nullptr;
  check(cudaEventCreate(&begin), "cudaEventCreate");
  check(cudaEventCreate(&end), "cudaEventCreate");
  check(cudaEventRecord(begin, first.stream), "cudaEventRecord");
  work();
  check(cudaEventRecord(end, first.stream), "cudaEventRecord");
  w.wait();
  float ms = 0;
  check(cudaEventElapsedTime(&ms, begin, end), "cudaEventElapsedTime");
  cudaEventDestroy(begin), cudaEventDestroy(end);
  return static_cast<double>(ms) * 1e3 / calls;
}

}  // namespace

std::string nccl_version() {
  int v = 0;
  if (ncclGetVersion(&v) != ncclSuccess) return "";
  return fmt::format("{}.{}.{}", v / 10000, v / 100 % 100, v % 100);
}

Outcome measure_collective(Context& c, const Collective& p, const Timing& t) {
  World w(c.device, p.gpus, p.elements);
  w.call(p);
  w.wait();
  Outcome out;
  out.kernel_source = p.graph ? "NCCL_graph" : p.op == CollectiveOp::AllReduce ? "NCCL_eager" : "NCCL";
  out.wrong = difference(w, p);
  if (!out.wrong.empty()) return out;
  if (p.graph) w.capture(p);
  const auto work = [&] {
    if (p.graph) return w.replay();
    for (int i = 0; i < calls; ++i) w.call(p);
  };
  sample(w, work);
  for (std::int64_t i = 0; i < t.repeats; ++i) out.samples.push_back(sample(w, work));
  out.clocks = c.nvml.read();
  return out;
}

}  // namespace servecast::microbench::cuda
