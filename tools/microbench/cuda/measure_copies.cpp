// Copies between host and device (pinned memory) and between two GPUs.
#include "microbench/cuda/kernels.hpp"
#include "microbench/cuda/measures.hpp"

namespace servecast::microbench::cuda {

namespace {

class Pinned {
 public:
  explicit Pinned(std::int64_t words) {
    check(cudaHostAlloc(reinterpret_cast<void**>(&data_), static_cast<std::size_t>(words) * 4, cudaHostAllocDefault),
          "cudaHostAlloc");
  }
  ~Pinned() { cudaFreeHost(data_); }
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;
  std::uint32_t* data() const { return data_; }

 private:
  std::uint32_t* data_ = nullptr;
};

// Memory of another GPU, and access to it.
class PeerBuffer {
 public:
  PeerBuffer(const Context& c, int peer, std::int64_t bytes) : home_(c.device), peer_(peer) {
    select(peer_);
    const cudaError_t error = cudaMalloc(&data_, static_cast<std::size_t>(bytes));
    select(home_);
    check(error, "cudaMalloc on the peer");
    const cudaError_t access = cudaDeviceEnablePeerAccess(peer, 0);
    if (access == cudaErrorPeerAccessAlreadyEnabled)
      cudaGetLastError();  // not an error
    else
      check(access, "cudaDeviceEnablePeerAccess");
  }
  ~PeerBuffer() {
    cudaSetDevice(peer_);
    cudaFree(data_);
    cudaSetDevice(home_);
  }
  PeerBuffer(const PeerBuffer&) = delete;
  PeerBuffer& operator=(const PeerBuffer&) = delete;
  void* data() const { return data_; }

 private:
  static void select(int device) { check(cudaSetDevice(device), "cudaSetDevice"); }
  int home_, peer_;
  void* data_ = nullptr;
};

// Words 0, a third and the last of what arrived must be their own number.
std::string difference(std::int64_t words, const std::function<std::uint32_t(std::int64_t)>& word) {
  for (const std::int64_t at : {std::int64_t{0}, words / 3, words - 1})
    if (const std::uint32_t got = word(at); got != static_cast<std::uint32_t>(at))
      return fmt::format("word {} is {}", at, got);
  return "";
}

void time_copy(Context& c, const Launch& launch, double bytes, const Timing& t, Outcome& out) {
  time_launch(c, launch, Timing{t.repeats, false}, out);
  to_gb_per_s(bytes, out);
}

Outcome with_host(Context& c, const Machine& m, const Timing& t) {
  const std::int64_t words = m.bytes / 4;
  const Buffer<std::uint32_t> device(words);
  const Pinned host(words);
  const bool down = m.quantity == Quantity::HostToDevice;
  const auto launch = [&](cudaStream_t s) {
    void* const to = down ? device.data() : host.data();
    const void* const from = down ? host.data() : device.data();
    cudaMemcpyAsync(to, from, static_cast<std::size_t>(m.bytes), down ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost,
                    s);
  };
  if (down)
    for (std::int64_t i = 0; i < words; ++i) host.data()[i] = static_cast<std::uint32_t>(i);
  else
    fill_words(device.data(), words, c.stream);
  launch(c.stream);
  check(cudaStreamSynchronize(c.stream), "copy");
  Outcome out;
  out.wrong = difference(words, [&](std::int64_t at) { return down ? device.get(at) : host.data()[at]; });
  if (out.wrong.empty()) time_copy(c, launch, static_cast<double>(m.bytes), t, out);
  return out;
}

Outcome with_peer(Context& c, const Machine& m, const Timing& t) {
  // detail counts the other GPUs
  const int peer = static_cast<int>(m.detail) <= c.device ? static_cast<int>(m.detail) - 1 : static_cast<int>(m.detail);
  int reaches = 0;
  check(cudaDeviceCanAccessPeer(&reaches, c.device, peer), "cudaDeviceCanAccessPeer");
  if (reaches == 0) return refused(fmt::format("GPU {} cannot reach the memory of GPU {}", c.device, peer));
  const std::int64_t words = m.bytes / 4;
  const Buffer<std::uint32_t> from(words), back(words);
  const PeerBuffer there(c, peer, m.bytes);
  const auto bytes = static_cast<std::size_t>(m.bytes);
  fill_words(from.data(), words, c.stream);
  back.zero();
  const auto launch = [&](cudaStream_t s) { cudaMemcpyPeerAsync(there.data(), peer, from.data(), c.device, bytes, s); };
  launch(c.stream);
  cudaMemcpyPeerAsync(back.data(), c.device, there.data(), peer, bytes, c.stream);
  check(cudaStreamSynchronize(c.stream), "peer copy");
  Outcome out;
  out.wrong = difference(words, [&](std::int64_t at) { return back.get(at); });
  if (out.wrong.empty()) time_copy(c, launch, static_cast<double>(m.bytes), t, out);
  return out;
}

}  // namespace

Outcome measure_copies(Context& c, const Machine& m, const Timing& t) {
  Outcome out = m.quantity == Quantity::PeerCopy ? with_peer(c, m, t) : with_host(c, m, t);
  out.kernel_source = "cuda_memcpy";
  return out;
}

}  // namespace servecast::microbench::cuda
