#include "calibrate/slow_tactics.hpp"

#include "catch.hpp"
#include "samples.hpp"

#include <set>

using namespace servecast;
using namespace servecast::calibrate;

namespace {

// Two curves of three rows; the second takes four times what is predicted.
KeyRows curves() {
  KeyRows out;
  out.key.family = cost::kernels::Family::Moe;
  out.key.kernel = "moe_torch_flow_cutlass";
  for (const double curve : {1., 2.})
    for (const double tokens : {1., 8., 64.})
      out.rows.push_back({{tokens}, tokens * 10 * (curve == 2 ? 4 : 1), 1, curve});
  out.curves = {{1, {4096, 1024, 8, 256, 1, 8, 1.2}}, {2, {4096, 1024, 8, 256, 2, 4, 1.2}}};
  return out;
}

std::vector<double> predicted() { return {10, 80, 640, 10, 80, 640}; }

}  // namespace

TEST_CASE("a curve that takes half as long again as predicted is named with its split") {
  CHECK(slow_curves(curves(), predicted()) ==
        std::vector<std::string>{"4096 x 1024, 8 of 256, alpha 1.2: tp2 ep4 4.0"});
  CHECK(slow_rows(curves(), predicted()) == std::vector<char>{0, 0, 0, 1, 1, 1});
}

TEST_CASE("curves of kernels that no autotuner chose are never set apart") {
  KeyRows other = curves();
  other.key.kernel = "deepgemm";
  CHECK(slow_curves(other, predicted()).empty());
  CHECK(slow_rows(other, predicted()) == std::vector<char>(6, 0));
}

TEST_CASE("only curves above the fit lose weight, as a whole") {
  const KeyRows rows = curves();
  const std::vector<double> weights = curve_weights(all_rows(rows), {-0.3, -0.3, 9.0, 0.1, 0.1, -5.0});
  CHECK(weights[0] == 1);
  CHECK(weights[2] == 1);  // one far row does not move the median
  CHECK(weights[3] == Approx(0.25));
  CHECK(weights[5] == Approx(0.25));
}

TEST_CASE("rows of other parallel splits, routings and numbers of experts are other curves and groups") {
  const samples::Folder folder("slow-tactics");
  const std::string head =
      "kernel_source,moe_dtype,num_tokens,hidden_size,inter_size,topk,num_experts,moe_tp_size,moe_ep_size,distribution,"
      "latency_us\n";
  const std::string path =
      folder.file("b200__mine-1.0__moe_perf.csv", head +
                                                      "k,fp8,64,4096,1024,8,256,1,8,power_law_1.2,900\n"
                                                      "k,fp8,64,4096,1024,8,256,2,4,power_law_1.2,900\n"
                                                      "k,fp8,64,4096,1024,8,256,1,8,power_law_1.01,900\n"
                                                      "k,fp8,64,4096,1024,8,128,1,8,power_law_1.2,900\n");
  core::Problems problems;
  const Dataset data = samples::read({path}, problems);
  REQUIRE(data.keys.size() == 1);
  CHECK(data.keys[0].curves.size() == 4);
  std::set<double> groups;
  for (const Observation& r : data.keys[0].rows) groups.insert(r.group);
  CHECK(groups.size() == 2);
}
