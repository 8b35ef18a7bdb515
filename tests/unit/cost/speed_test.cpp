// Not run by default: prints what a step costs, for a person to look at.
#include "catch.hpp"
#include "cost/compiled.hpp"
#include "random_shapes.hpp"
#include "samples.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <ctime>
#include <vector>

using namespace servecast;
using namespace servecast::cost;

namespace {

// CPU time of this thread: a shared machine's other work must not count.
double now_ns() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
}

// Best of several rounds over all shapes, per call.
template <typename Call>
double best_ns(const std::vector<StepShape>& shapes, const Call& call) {
  double best = 1e30;
  for (int round = 0; round < 245; ++round) {
    const double begin = now_ns();
    for (const StepShape& s : shapes) call(s);
    best = std::min(best, (now_ns() - begin) / static_cast<double>(shapes.size()));
  }
  return best;
}

}  // namespace

TEST_CASE("nanoseconds per step", "[.][speed]") {
  const hardware::Gpu gpu = samples::b200();
  for (const model::Architecture& a : {samples::llama_70b(), samples::gpt_oss_120b(), samples::deepseek_v3(true)}) {
    StepModelInput in = samples::input(a, gpu, 8);
    in.max_num_batched_tokens = 16384;
    in.max_num_seqs = 1024;
    const double begin = now_ns();
    const StepModel model(in);
    const CompiledCost cost(model);
    const double compile_ms = (now_ns() - begin) * 1e-6;
    core::Random random(3, "test/speed");
    std::vector<StepShape> shapes(4096);
    for (StepShape& s : shapes) s = random_shape(random, in, cost);
    std::int64_t sum = 0;
    const double step = best_ns(shapes, [&](const StepShape& s) { sum += cost.step(s).total.ps; });
    const double chunk = best_ns(shapes, [&](const StepShape& s) {
      sum += cost.chunk(s.decode_requests, s.decode_requests + s.prefill_tokens + 1).ps;
    });
    fmt::print("{}: compile {:.1f} ms, tables {:.2f} MB, step {:.1f} ns, chunk {:.1f} ns ({})\n", a.name, compile_ms,
               static_cast<double>(cost.table_bytes()) / 1048576.0, step, chunk, sum & 1);
  }
}
