// Products by cuBLASLt: the algorithm that its heuristic names first, as serving engines take it.
#include "microbench/cuda/kernels.hpp"
#include "microbench/cuda/measures.hpp"
#include "microbench/cuda/products_state.hpp"
#include "microbench/host/codecs.hpp"
#include "microbench/host/layouts.hpp"
#include "microbench/host/values.hpp"

#include <algorithm>
#include <cmath>

namespace servecast::microbench::cuda {

namespace {

constexpr std::uint64_t stream_x = 1, stream_w = 2, stream_x_scales = 3, stream_w_scales = 4;

double value(Format f, std::uint64_t stream, std::uint64_t scales, std::int64_t row, std::int64_t column,
             std::int64_t k) {
  const auto i = static_cast<std::uint64_t>(row * k + column);
  if (f == Format::Bf16) return codec::bf16_to_float(values::bf16_code(stream, i));
  if (f == Format::Fp8) return codec::e4m3_to_float(values::e4m3_code(stream, i));
  const std::uint8_t pair = values::e2m1_pair(stream, i / 2);
  const auto code = static_cast<std::uint8_t>(i % 2 == 0 ? pair & 15U : pair >> 4);
  const auto group =
      static_cast<std::uint64_t>(row * layout::ceil_div(k, layout::scale_group) + column / layout::scale_group);
  return static_cast<double>(codec::e2m1_to_float(code)) * codec::e4m3_to_float(values::scale_code(scales, group));
}

// Elements spread over the output, its corners among them, against exact sums.
std::string difference(const Gemm& g, const Buffer<std::uint16_t>& out) {
  for (std::uint64_t sample = 0; sample < 24; ++sample) {
    const std::int64_t row =
        sample == 0 ? g.m - 1 : static_cast<std::int64_t>(values::mixed(9, sample) % static_cast<std::uint64_t>(g.m));
    const std::int64_t column =
        sample == 0 ? g.n - 1 : static_cast<std::int64_t>(values::mixed(8, sample) % static_cast<std::uint64_t>(g.n));
    double exact = 0, magnitude = 0;
    for (std::int64_t i = 0; i < g.k; ++i) {
      const double term = value(g.format, stream_x, stream_x_scales, row, i, g.k) *
                          value(g.format, stream_w, stream_w_scales, column, i, g.k);
      exact += term, magnitude += std::abs(term);
    }
    const double got = codec::bf16_to_float(out.get(row * g.n + column));
    // Output: half of BF16's last place, doubled. Sums: FP32, or fewer bits inside FP8 tensor cores (assumed: 13).
    const double sums = g.format == Format::Bf16 ? 1e-5 : g.format == Format::Fp8 ? 5e-4 : 2.5e-4;
    const double allowed = std::abs(exact) / 256 + magnitude * sums;
    if (!(std::abs(got - exact) <= allowed))
      return fmt::format("element ({}, {}) is {} instead of {}", row, column, got, exact);
  }
  return "";
}

}  // namespace

Outcome Products::measure(const Gemm& g, const Timing& t) {
  State& s = *state_;
  Context& c = s.context;
  Operands in(g, c);
  const Buffer<std::uint16_t> out(g.m * g.n);
  const std::optional<Product> product = Product::find(s, g, in);
  if (!product) return refused("cuBLASLt has no algorithm for this format and shape on this device");
  check(cudaStreamSynchronize(c.stream), "filling the operands");
  product->run(s, in, out.data(), c.stream);
  Outcome result;
  result.kernel_source = "cublaslt";
  result.wrong = difference(g, out);
  if (!result.wrong.empty()) return result;
  time_launch(
      c, [&](cudaStream_t stream) { product->run(s, in, out.data(), stream); }, t, result);
  return result;
}

// x and w as the library takes them; scales only for nvfp4.
Operands::Operands(const Gemm& g, Context& c)
    : x(bytes(g, g.m)), w(bytes(g, g.n)), x_scales(scales(g, g.m)), w_scales(scales(g, g.n)) {
  fill(g, g.m, x, x_scales, stream_x, stream_x_scales, c.stream);
  fill(g, g.n, w, w_scales, stream_w, stream_w_scales, c.stream);
  check_launch("filling the operands");
}

std::int64_t Operands::bytes(const Gemm& g, std::int64_t rows) {
  return g.format == Format::Bf16 ? rows * g.k * 2 : g.format == Format::Fp8 ? rows * g.k : rows * g.k / 2;
}
std::int64_t Operands::scales(const Gemm& g, std::int64_t rows) {
  return g.format == Format::Nvfp4 ? layout::scale_bytes(rows, g.k) : 16;
}
void Operands::fill(const Gemm& g, std::int64_t rows, const Buffer<std::uint8_t>& to,
                    const Buffer<std::uint8_t>& to_scales, std::uint64_t stream, std::uint64_t scale_stream,
                    cudaStream_t s) {
  if (g.format == Format::Bf16) fill_bf16(reinterpret_cast<std::uint16_t*>(to.data()), rows * g.k, stream, s);
  if (g.format == Format::Fp8) fill_e4m3(to.data(), rows * g.k, stream, s);
  if (g.format != Format::Nvfp4) return;
  fill_e2m1(to.data(), rows * g.k / 2, stream, s);
  fill_scales(to_scales.data(), rows, g.k, scale_stream, s);
}

}  // namespace servecast::microbench::cuda
