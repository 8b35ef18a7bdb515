// Paged attention: prompts, decoding, verification. Rows are checked against attention in double on the host.
#include "microbench/cuda/kernels.hpp"
#include "microbench/cuda/measures.hpp"
#include "microbench/host/codecs.hpp"
#include "microbench/host/layouts.hpp"
#include "microbench/host/values.hpp"

#include <cmath>

namespace servecast::microbench::cuda {

namespace {

constexpr std::uint64_t q_stream = 11, k_stream = 12, v_stream = 13;

struct Inputs {
  Inputs(const Attention& a, Context& c);
  std::int64_t blocks_per_sequence, blocks, step;
  Buffer<std::uint16_t> q, out;
  Buffer<std::uint8_t> k, v;
  Buffer<std::int32_t> table;
};

std::int64_t cache_elements(const Attention& a, std::int64_t blocks) {
  return blocks * layout::kv_block * a.kv_heads * a.head_dim;
}

void fill_cache(const Attention& a, const Buffer<std::uint8_t>& to, std::int64_t elements, std::uint64_t stream,
                cudaStream_t s) {
  if (a.kv == Format::Fp8)
    fill_e4m3(to.data(), elements, stream, s);
  else
    fill_bf16(reinterpret_cast<std::uint16_t*>(to.data()), elements, stream, s);
}

Inputs::Inputs(const Attention& a, Context& c)
    : blocks_per_sequence(layout::blocks_of(a.cached + a.queries)),
      blocks(blocks_per_sequence * a.batch),
      step(layout::scatter_step(blocks)),
      q(a.batch * a.queries * a.heads * a.head_dim),
      out(q.count()),
      k(cache_elements(a, blocks) * (a.kv == Format::Fp8 ? 1 : 2)),
      v(k.count()),
      table(blocks) {
  fill_bf16(q.data(), q.count(), q_stream, c.stream);
  fill_cache(a, k, cache_elements(a, blocks), k_stream, c.stream);
  fill_cache(a, v, cache_elements(a, blocks), v_stream, c.stream);
  std::vector<std::int32_t> numbers;
  for (std::int64_t i = 0; i < blocks; ++i)
    numbers.push_back(static_cast<std::int32_t>(layout::scattered(i, step, blocks)));
  table.put(numbers);
  check_launch("filling the cache");
}

double cached_value(const Attention& a, std::uint64_t stream, std::int64_t at) {
  const auto i = static_cast<std::uint64_t>(at);
  return a.kv == Format::Fp8 ? codec::e4m3_to_float(values::e4m3_code(stream, i))
                             : codec::bf16_to_float(values::bf16_code(stream, i));
}

struct Row {
  std::int64_t sequence, query, head;
};

// Exact output of one row and, beside it, the weighted magnitudes that rounding is relative to.
void exact_row(const Attention& a, const Inputs& in, const Row& r, std::vector<double>& out,
               std::vector<double>& magnitude) {
  const std::int64_t keys = layout::visible_keys(r.query, a.cached), kv_head = r.head / (a.heads / a.kv_heads);
  const auto dim = static_cast<std::size_t>(a.head_dim);
  const std::int64_t q = layout::query_offset(r.sequence, r.query, r.head, a.queries, a.heads, a.head_dim);
  std::vector<double> query(dim), scores;
  for (std::size_t d = 0; d < dim; ++d)
    query[d] =
        codec::bf16_to_float(values::bf16_code(q_stream, static_cast<std::uint64_t>(q) + d)) / std::sqrt(a.head_dim);
  const auto offset = [&](std::int64_t key) {
    const std::int64_t logical = r.sequence * in.blocks_per_sequence + key / layout::kv_block;
    return layout::kv_offset(layout::scattered(logical, in.step, in.blocks), key % layout::kv_block, kv_head,
                             a.kv_heads, a.head_dim);
  };
  double most = -1e300, sum = 0;
  for (std::int64_t key = 0; key < keys; ++key) {
    double score = 0;
    const std::int64_t at = offset(key);
    for (std::size_t d = 0; d < dim; ++d)
      score += query[d] * cached_value(a, k_stream, at + static_cast<std::int64_t>(d));
    scores.push_back(score), most = std::max(most, score);
  }
  out.assign(dim, 0), magnitude.assign(dim, 0);
  for (double& s : scores) s = std::exp(s - most), sum += s;
  for (std::int64_t key = 0; key < keys; ++key) {
    const std::int64_t at = offset(key);
    const double weight = scores[static_cast<std::size_t>(key)] / sum;
    for (std::size_t d = 0; d < dim; ++d) {
      const double term = weight * cached_value(a, v_stream, at + static_cast<std::int64_t>(d));
      out[d] += term, magnitude[d] += std::abs(term);
    }
  }
}

std::string difference(const Attention& a, const Inputs& in) {
  // The last row, and some others; the longest contexts take a second a row, so few.
  const std::uint64_t samples = a.cached + a.queries > 16384 ? 2 : 5;
  for (std::uint64_t i = 0; i < samples; ++i) {
    const auto pick = [&](std::uint64_t stream, std::int64_t n) {
      return i == 0 ? n - 1 : static_cast<std::int64_t>(values::mixed(stream, i) % static_cast<std::uint64_t>(n));
    };
    const Row r{pick(31, a.batch), pick(32, a.queries), pick(33, a.heads)};
    std::vector<double> exact, magnitude;
    exact_row(a, in, r, exact, magnitude);
    const auto got =
        in.out.get(layout::query_offset(r.sequence, r.query, r.head, a.queries, a.heads, a.head_dim), a.head_dim);
    for (std::size_t d = 0; d < exact.size(); ++d) {
      const double value = codec::bf16_to_float(got[d]);
      // weights and output are rounded to BF16, 2^-9 each; scores in FP32; doubled
      if (!(std::abs(value - exact[d]) <= magnitude[d] / 128 + 1e-6))
        return fmt::format("sequence {} query {} head {} dim {} is {} instead of {}", r.sequence, r.query, r.head, d,
                           value, exact[d]);
    }
  }
  return "";
}

AttentionArguments arguments(const Attention& a, const Inputs& in) {
  AttentionArguments args{};
  args.q = in.q.data(), args.k = in.k.data(), args.v = in.v.data();
  args.block_table = in.table.data(), args.out = in.out.data();
  args.batch = static_cast<std::int32_t>(a.batch), args.queries = static_cast<std::int32_t>(a.queries);
  args.cached = static_cast<std::int32_t>(a.cached), args.heads = static_cast<std::int32_t>(a.heads);
  args.kv_heads = static_cast<std::int32_t>(a.kv_heads), args.head_dim = static_cast<std::int32_t>(a.head_dim);
  args.blocks_per_sequence = static_cast<std::int32_t>(in.blocks_per_sequence);
  args.fp8 = a.kv == Format::Fp8;
  args.splits = 1;
  return args;
}

}  // namespace

Outcome measure_attention(Context& c, const Attention& a, const Timing& t) {
  const Inputs in(a, c);
  AttentionArguments args = arguments(a, in);
  if (a.cached > 0)
    args.splits =
        static_cast<std::int32_t>(layout::splits_for(attention_units(args), a.cached + a.queries, c.info.sms));
  const Buffer<float> partial(args.splits > 1 ? args.splits * a.batch * a.queries * a.heads * (a.head_dim + 2) : 1);
  args.partial = partial.data();
  attention(args, c.stream);
  check_launch("attention kernel");
  Outcome out;
  out.kernel_source = a.cached == 0    ? "servecast_paged_prefill"
                      : a.queries == 1 ? "servecast_paged_decode"
                                       : "servecast_paged_verify";
  out.wrong = difference(a, in);
  if (out.wrong.empty())
    time_launch(
        c, [&](cudaStream_t s) { attention(args, s); }, t, out);
  return out;
}

}  // namespace servecast::microbench::cuda
