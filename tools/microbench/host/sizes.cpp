#include "microbench/host/families.hpp"
#include "microbench/host/layouts.hpp"

#include <algorithm>
#include <type_traits>

namespace servecast::microbench {

namespace {

// Bytes per element, block scales included (nvfp4: one byte per 16).
double width(Format f) { return f == Format::Bf16 ? 2 : f == Format::Fp8 ? 1 : 0.5625; }

double needed(const Gemm& g) {
  const auto m = static_cast<double>(g.m), n = static_cast<double>(g.n), k = static_cast<double>(g.k);
  // scale tiles are padded to 128 rows; the workspace of the library is 64 MiB
  return (m + 128 + n) * (k + 64) * width(g.format) + 2 * m * n + 67108864;
}

double needed(const Attention& a) {
  const std::int64_t blocks = a.batch * layout::blocks_of(a.cached + a.queries);
  const double cache = static_cast<double>(blocks) * layout::kv_block * static_cast<double>(a.kv_heads * a.head_dim);
  const double rows = static_cast<double>(a.batch * a.queries * a.heads * a.head_dim);
  // partial results: fp32 per split, and few rows are split at all
  const double partial = a.queries <= 16 ? rows * 4 * static_cast<double>(layout::most_splits) : 0;
  return 2 * cache * width(a.kv) + 4 * rows + partial;
}

double needed(const Quantise& q) { return static_cast<double>(q.rows) * static_cast<double>(q.width) * 3.1; }

double needed(const Experts& e) {
  const double rows = static_cast<double>(e.tokens * e.top_k);
  const double weights =
      static_cast<double>(e.experts / e.ep) * 3 * static_cast<double>(e.hidden) * static_cast<double>(e.inter) * 2;
  return weights + rows * static_cast<double>(2 * e.hidden + 3 * e.inter) * 2 +
         static_cast<double>(e.tokens * e.hidden) * 4;
}

double needed(const Collective& c) { return static_cast<double>(c.elements) * 4; }

double needed(const Machine& m) {
  return 2 * static_cast<double>(std::max<std::int64_t>(m.bytes, std::int64_t{1} << 28));
}

}  // namespace

std::int64_t bytes_needed(const Point& point) {
  return static_cast<std::int64_t>(std::visit([](const auto& p) { return needed(p); }, point));
}

}  // namespace servecast::microbench
