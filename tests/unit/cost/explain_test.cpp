#include "cost/explain.hpp"

#include "catch.hpp"
#include "samples.hpp"

using namespace servecast;
using namespace servecast::cost;

TEST_CASE("the rows of an explanation add up to the step") {
  const hardware::Gpu gpu = samples::b200();
  for (const model::Architecture& a : {samples::llama_70b(), samples::gpt_oss_120b(), samples::deepseek_v3()}) {
    const StepModelInput in = samples::input(a, gpu, 8);
    const StepModel model(in);
    for (const bool prefill : {false, true}) {
      StepShape shape;
      shape.decode_requests = shape.sampled_rows = 32;
      shape.decode_context = 32 * 4000;
      shape.decode_context_windowed = 32 * 128;
      std::vector<std::pair<std::int32_t, std::int32_t>> chunks;
      if (prefill) chunks = {{0, 1000}, {4096, 6144}};
      const Explanation e = explain(model, shape, chunks);
      double seconds = 0;
      double share = 0;
      for (const ExplainRow& r : e.rows) {
        seconds += r.seconds;
        share += r.share;
      }
      CHECK(seconds == Approx(core::to_seconds(e.time.total)).epsilon(1e-9));
      CHECK(share == Approx(1.0).epsilon(1e-9));
    }
  }
}

TEST_CASE("decoding one sequence is limited by memory in its projections and says where its times come from") {
  const hardware::Gpu gpu = samples::b200();
  const model::Architecture a = samples::llama_70b();
  const StepModelInput in = samples::input(a, gpu, 1);
  const StepModel model(in);
  StepShape shape;
  shape.decode_requests = shape.sampled_rows = 1;
  shape.decode_context = 1000;
  const Explanation e = explain(model, shape, {});
  bool seen = false;
  for (const ExplainRow& r : e.rows) {
    if (r.name != "mlp gate and up") continue;
    seen = true;
    CHECK(r.limit == Resource::Memory);
    CHECK(r.launches == 80);
    CHECK(r.origin == "datasheet");
    CHECK_FALSE(r.extrapolated);
    CHECK(r.share > 0.3);
  }
  CHECK(seen);
}
