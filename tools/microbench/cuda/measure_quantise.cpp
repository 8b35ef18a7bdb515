// Conversions between BF16 and narrower formats, bit for bit the host codecs'.
#include "microbench/cuda/kernels.hpp"
#include "microbench/cuda/measures.hpp"
#include "microbench/host/codecs.hpp"
#include "microbench/host/layouts.hpp"
#include "microbench/host/values.hpp"

#include <algorithm>
#include <cmath>

namespace servecast::microbench::cuda {

namespace {

constexpr std::uint64_t in_stream = 41;

float input(std::int64_t i) {
  return codec::bf16_to_float(values::bf16_code(in_stream, static_cast<std::uint64_t>(i)));
}

// Inputs lie in (-1, 1) with every code as likely: the largest of a few thousand is the largest there is.
float largest_input(std::int64_t count) {
  float most = 0;
  for (std::int64_t i = 0; i < std::min<std::int64_t>(count, 1 << 20); ++i) most = std::max(most, std::abs(input(i)));
  return most;
}

struct Tensor {
  Tensor(std::int64_t rows_, std::int64_t width_, Context& c)
      : rows(rows_),
        width(width_),
        in(rows_ * width_),
        out(rows_ * width_),
        scales(layout::scale_bytes(rows_, width_)),
        largest(1) {
    fill_bf16(in.data(), in.count(), in_stream, c.stream);
    find_largest(in.data(), in.count(), largest.data(), c.blocks(), c.stream);
    check_launch("scale search");
  }
  std::int64_t rows, width;
  Buffer<std::uint16_t> in;
  Buffer<std::uint8_t> out, scales;
  Buffer<float> largest;
};

// Element `at` of a tensor of this size: some at both ends and in between.
std::vector<std::int64_t> sampled_groups(std::int64_t groups) {
  std::vector<std::int64_t> out = {0, groups - 1};
  for (std::uint64_t i = 0; i < 200; ++i)
    out.push_back(static_cast<std::int64_t>(values::mixed(51, i) % static_cast<std::uint64_t>(groups)));
  return out;
}

std::string fp8_difference(const Tensor& x, float largest) {
  const float scale = largest / 448.0F;
  const std::vector<std::uint8_t> first = x.out.get(0, std::min<std::int64_t>(x.out.count(), 1 << 16));
  const auto differs = [&](std::int64_t i, std::uint8_t got) { return got != codec::float_to_e4m3(input(i) / scale); };
  for (std::size_t i = 0; i < first.size(); ++i)
    if (differs(static_cast<std::int64_t>(i), first[i])) return fmt::format("element {} is code {}", i, first[i]);
  const std::int64_t last = x.out.count() - 1;
  return differs(last, x.out.get(last)) ? fmt::format("element {} differs", last) : "";
}

// One block of 16: its scale and its codes.
std::string block_difference(const Tensor& x, std::int64_t group, float tensor_scale) {
  float most = 0;
  for (std::int64_t i = group * 16; i < group * 16 + 16; ++i) most = std::max(most, std::abs(input(i)));
  const std::uint8_t scale = codec::nvfp4_block_scale(most, tensor_scale);
  const std::int64_t groups = x.width / layout::scale_group;
  const std::uint8_t got = x.scales.get(layout::scale_offset(group / groups, group % groups, x.width));
  if (got != scale) return fmt::format("scale of block {} is {} instead of {}", group, got, scale);
  const std::vector<std::uint8_t> codes = x.out.get(group * 8, 8);
  const float step = codec::nvfp4_step(scale, tensor_scale);
  for (std::int64_t i = 0; i < 16; ++i) {
    const auto code = static_cast<std::uint8_t>(codes[static_cast<std::size_t>(i / 2)] >> (i % 2 * 4) & 15);
    const std::uint8_t expected = codec::float_to_e2m1(codec::nvfp4_ratio(input(group * 16 + i), step));
    if (code != expected)
      return fmt::format("element {} of block {} is code {} instead of {}", i, group, code, expected);
  }
  return "";
}

std::string nvfp4_difference(const Tensor& x, float largest) {
  for (const std::int64_t group : sampled_groups(x.in.count() / layout::scale_group))
    if (std::string wrong = block_difference(x, group, codec::nvfp4_tensor_scale(largest)); !wrong.empty())
      return wrong;
  return "";
}

void convert(const Quantise& q, const Tensor& x, Context& c, cudaStream_t s) {
  if (q.scale_search)
    find_largest(x.in.data(), x.in.count(), x.largest.data(), c.blocks(), s);
  else if (q.to == Format::Fp8)
    scale_to_fp8(x.in.data(), x.in.count(), x.largest.data(), x.out.data(), c.blocks(), s);
  else
    scale_to_nvfp4(x.in.data(), x.rows, x.width, x.largest.data(), x.out.data(), x.scales.data(), c.blocks(), s);
}

std::string source(const char* kernel, bool hardware) {
  return std::string("servecast_") + kernel + (hardware ? "" : "_software");
}

}  // namespace

Outcome measure_quantise(Context& c, const Quantise& q, const Timing& t) {
  const Tensor x(q.rows, q.width, c);
  convert(q, x, c, c.stream);
  check_launch("conversion");
  Outcome out;
  out.kernel_source = q.scale_search        ? "servecast_amax"
                      : q.to == Format::Fp8 ? source("to_fp8", converts_in_hardware_fp8())
                                            : source("to_nvfp4", converts_in_hardware_fp4());
  const float largest = largest_input(x.in.count());
  if (const float got = x.largest.get(0); got != largest)
    out.wrong = fmt::format("largest is {} instead of {}", got, largest);
  if (out.wrong.empty() && !q.scale_search)
    out.wrong = q.to == Format::Fp8 ? fp8_difference(x, largest) : nvfp4_difference(x, largest);
  if (out.wrong.empty())
    time_launch(
        c, [&](cudaStream_t s) { convert(q, x, c, s); }, t, out);
  return out;
}

// bytes: of the BF16 output. The rate counts what is read and written.
Outcome measure_dequantise(Context& c, const Machine& m, const Timing& t) {
  constexpr std::int64_t width = 4096;
  const std::int64_t rows = std::max<std::int64_t>(1, m.bytes / 2 / width);
  const Tensor x(rows, width, c);
  scale_to_nvfp4(x.in.data(), rows, width, x.largest.data(), x.out.data(), x.scales.data(), c.blocks(), c.stream);
  const Buffer<std::uint16_t> back(rows * width);
  const auto launch = [&](cudaStream_t s) {
    nvfp4_to_bf16(x.out.data(), x.scales.data(), rows, width, x.largest.data(), back.data(), c.blocks(), s);
  };
  launch(c.stream);
  check_launch("conversion");
  Outcome out;
  out.kernel_source = "servecast_from_nvfp4";
  const float tensor = codec::nvfp4_tensor_scale(largest_input(x.in.count()));
  for (const std::int64_t group : sampled_groups(rows * width / layout::scale_group)) {
    const std::uint8_t scale = x.scales.get(layout::scale_offset(group / (width / 16), group % (width / 16), width));
    const std::vector<std::uint8_t> codes = x.out.get(group * 8, 8);
    const std::vector<std::uint16_t> got = back.get(group * 16, 16);
    for (std::size_t i = 0; i < 16; ++i) {
      const auto code = static_cast<std::uint8_t>(codes[i / 2] >> (i % 2 * 4) & 15);
      if (got[i] != codec::float_to_bf16(codec::e2m1_to_float(code) * codec::nvfp4_step(scale, tensor)))
        out.wrong = fmt::format("element {} of block {} is code {}", i, group, got[i]);
    }
  }
  if (!out.wrong.empty()) return out;
  time_launch(c, launch, t, out);
  to_gb_per_s(static_cast<double>(rows * width) * (2 + 0.5625), out);
  return out;
}

}  // namespace servecast::microbench::cuda
