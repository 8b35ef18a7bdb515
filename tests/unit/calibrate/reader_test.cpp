#include "calibrate/operator_table.hpp"
#include "catch.hpp"
#include "samples.hpp"

using namespace servecast;

namespace {

constexpr std::string_view header = "kernel_source,gemm_dtype,m,n,k,latency_us\n";

std::int64_t dropped(const calibrate::Dataset& d, std::string_view reason) {
  for (const auto& one : d.sources.at(0).dropped)
    if (one.reason == reason) return one.rows;
  return 0;
}

}  // namespace

TEST_CASE("GPU, stack and table are read from the name of a file") {
  const auto name = calibrate::table_name("folder/h200_sxm__vllm-0.19.0__gemm_perf.csv.xz");
  CHECK(name.gpu == "h200");
  CHECK(name.stack == "vllm-0.19.0");
  CHECK(name.table == "gemm_perf");
  CHECK(calibrate::table_name("mine.csv").gpu == "");
}

TEST_CASE("rows that cannot be used are counted by reason") {
  const samples::Folder folder("reader_counts");
  const std::string file = folder.file("b200__mine-1__gemm_perf.csv", std::string(header) +
                                                                          "x,bfloat16,16,128,128,5\n"
                                                                          "x,bfloat16,16,128,128,7\n"
                                                                          "x,bfloat16,0,128,128,5\n"
                                                                          "x,bfloat16,16,128\n"
                                                                          "x,bfloat3,16,128,128,5\n"
                                                                          "x,bfloat16,16,128,128,0\n"
                                                                          "x,bfloat16,16384,8192,8192,10\n"
                                                                          "x,bfloat16,16,128,1.5,5\n"
                                                                          "x,bfloat16,1e300,128,128,5\n"
                                                                          "x,bfloat16,16,128,128,1e300\n");
  core::Problems problems;
  const auto data = samples::read({file}, problems);
  CHECK(problems.empty());
  CHECK(data.stack == "mine-1");
  const auto& source = data.sources.at(0);
  CHECK(source.rows == 10);
  CHECK(source.used == 2);
  CHECK(dropped(data, "a size is missing or no whole number from 1 to 1e9") == 3);
  CHECK(dropped(data, "a time beyond 100 s") == 1);
  CHECK(dropped(data, "another number of fields than the header") == 1);
  CHECK(dropped(data, "unknown data type") == 1);
  CHECK(dropped(data, "no positive time") == 1);
  CHECK(dropped(data, "faster than the arithmetic peak allows") == 1);
  REQUIRE(data.keys.size() == 1);
  REQUIRE(data.keys[0].rows.size() == 1);
  CHECK(data.keys[0].rows[0].us == Approx(6));
}

TEST_CASE("a curve of one size is left out, and tables of several versions are named") {
  const samples::Folder folder("reader_mixed");
  const std::string collective = "nccl_dtype,num_gpus,message_size,op_name,latency_us\n";
  const std::string curve = folder.file("b200__nccl-2.27__nccl_perf.csv",
                                        collective + "half,2,1024,all_gather,5\n" + "half,2,1024,all_gather,7\n" +
                                            "half,4,1024,all_gather,5\n" + "half,4,2048,all_gather,9\n");
  const std::string row = std::string(header) + "x,bfloat16,16,128,128,5\n";
  const std::string one = folder.file("b200__mine-1__gemm_perf.csv", row);
  const std::string other = folder.file("b200__mine-2__gemm_perf.csv", row);
  core::Problems problems;
  const auto data = samples::read({curve, one, other}, problems);
  CHECK(problems.empty());
  REQUIRE(data.curves.size() == 1);
  CHECK(data.curves[0].ranks == 4);
  CHECK(data.sources.at(0).used == 2);
  CHECK(data.sources.at(0).dropped.at(0).rows == 2);
  CHECK(data.stack == "mine-1");
  REQUIRE(data.warnings.size() == 1);
  CHECK(data.warnings[0].find("measured with mine-2, the files before it with mine-1") != std::string::npos);
}

TEST_CASE("unknown columns are named") {
  const samples::Folder folder("reader_columns");
  const std::string file =
      folder.file("b200__mine-1__gemm_perf.csv", "gemm_dtype,m,n,k,latency_us,watts\nbfloat16,16,128,128,5,300\n");
  core::Problems problems;
  const auto data = samples::read({file}, problems);
  CHECK(problems.empty());
  REQUIRE(data.warnings.size() == 1);
  CHECK(data.warnings[0].find("column watts is not known") != std::string::npos);
}

TEST_CASE("files that are no operator tables, empty, or of several GPUs are refused together") {
  const samples::Folder folder("reader_refusals");
  const std::string good =
      folder.file("b200__mine-1__gemm_perf.csv", std::string(header) + "x,bfloat16,16,128,128,5\n");
  const std::string other =
      folder.file("h100__mine-1__gemm_perf.csv", std::string(header) + "x,bfloat16,16,128,128,5\n");
  const std::string strange = folder.file("b200__mine-1__x.csv", "a,b\n1,2\n");
  const std::string empty = folder.file("b200__mine-1__empty.csv", "");
  const std::string bare = folder.file("b200__mine-1__bare.csv", header);
  const std::string unnamed = folder.file("mine.csv", header);
  core::Problems problems;
  samples::read({good, other, strange, empty, bare, unnamed}, problems);
  REQUIRE(problems.lines().size() == 5);
  CHECK(problems.lines()[0].find("measured on h100, the files before it on b200") != std::string::npos);
  CHECK(problems.lines()[1].find("no operator table has these columns") != std::string::npos);
  CHECK(problems.lines()[2].find("the file is empty") != std::string::npos);
  CHECK(problems.lines()[3].find("a header and no rows") != std::string::npos);
  CHECK(problems.lines()[4].find("does not say which GPU") != std::string::npos);
}

TEST_CASE("rows that a quality flag excludes are dropped with its reason") {
  const samples::Folder folder("reader_flags");
  const std::string file = folder.file("b200__vllm-0.24.0__gemm_perf.csv",
                                       std::string(header) + "x,fp8_block,16,128,128,150\nx,fp8,16,128,128,5\n");
  core::Problems problems;
  const auto data = samples::read({file}, problems);
  CHECK(data.sources.at(0).used == 1);
  CHECK(dropped(data, "flagged: bound by the host, not the kernel") == 1);
}

TEST_CASE("decode rows are told from prefill rows by the tokens already cached") {
  const samples::Folder folder("reader_attention");
  const std::string file = folder.file(
      "b200__mine-1__attention.csv",
      "batch_size,isl,num_heads,num_key_value_heads,head_dim,attn_dtype,kv_cache_dtype,step,window_size,latency_us\n"
      "8,1,64,8,128,bfloat16,fp8,1023,0,20\n8,512,64,8,128,bfloat16,bfloat16,0,128,90\n");
  core::Problems problems;
  const auto data = samples::read({file}, problems);
  REQUIRE(data.keys.size() == 2);
  CHECK(data.keys[0].key.family == cost::kernels::Family::Decode);
  CHECK(data.keys[0].key.variant == "gqa");
  CHECK(data.keys[0].rows[0].x[4] == 1024);
  CHECK(data.keys[1].key.family == cost::kernels::Family::Prefill);
  CHECK(data.keys[1].key.variant == "windowed");
}
