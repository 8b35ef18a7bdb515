#include "microbench/host/tables.hpp"

#include "calibrate/operator_rows.hpp"
#include "calibrate/operator_table.hpp"
#include "catch.hpp"
#include "folder.hpp"
#include "microbench/host/fake_device.hpp"

#include <fmt/ranges.h>

#include <map>

using namespace servecast;
using namespace servecast::microbench;

namespace {

const std::vector<Point> samples = {Gemm{Format::Nvfp4, 16, 128, 256},
                                    Attention{Format::Fp8, 4, 1, 1023, 32, 8, 128},
                                    Attention{Format::Bf16, 4, 512, 0, 32, 8, 128},
                                    Quantise{Format::Fp8, true, 16, 4096},
                                    Quantise{Format::Nvfp4, false, 16, 4096},
                                    Experts{64, 2048, 768, 8, 128, 8, 1.2},
                                    Collective{CollectiveOp::AllReduce, true, 8, 1024},
                                    Collective{CollectiveOp::AllToAll, false, 8, 1024},
                                    Machine{Quantity::HbmRead, 1 << 20, 0}};

// The file's only row as the calibration reads it; leaves what went wrong in `reason`.
struct Read {
  std::optional<calibrate::Schema> schema;
  std::string reason;
  std::vector<std::string> unused;
  double value = 0;
};

Read read_back(const Point& point) {
  const test::Folder folder("microbench_tables");
  FakeDevice device(1);
  const std::string name = file_name(table_of(point), "b200", "mine-1", "2.27");
  folder.write(name, fmt::format("{}\n{}\n", fmt::join(columns(table_of(point)), ","),
                                 row(point, device.measure(point, Timing{3, false}), device.info(), false)));
  calibrate::OperatorTable t(folder / name);
  Read out;
  out.schema = calibrate::schema_of(t);
  if (!out.schema || !t.next()) return out;
  calibrate::CurvePoint curve;
  calibrate::MachineRow machine;
  std::vector<calibrate::Measured> measured;
  if (table_of(point) == TableId::Machine) {
    out.reason = calibrate::read_machine(t, machine), out.value = machine.value;
  } else if (std::holds_alternative<Collective>(point)) {
    out.reason = calibrate::read_curve_point(*out.schema, t, curve), out.value = curve.us;
  } else {
    calibrate::RowReader reader(*out.schema, calibrate::table_name(name).table);
    out.reason = reader.read(t, measured);
    if (!measured.empty()) out.value = measured[0].row.us;
  }
  out.unused = t.unused();
  return out;
}

}  // namespace

TEST_CASE("the calibration reads every table as what it is, with no column unknown") {
  using calibrate::Schema;
  const Schema schemas[] = {Schema::Gemm, Schema::Attention, Schema::Attention, Schema::Scale,  Schema::Scale,
                            Schema::Moe,  Schema::AllReduce, Schema::Nccl,      Schema::Machine};
  for (std::size_t i = 0; i < samples.size(); ++i) {
    INFO(key(samples[i]));
    const Read r = read_back(samples[i]);
    REQUIRE(r.schema.has_value());
    CHECK(*r.schema == schemas[i]);
    CHECK(r.reason == "");
    CHECK(r.unused == std::vector<std::string>{});
    CHECK(r.value > 0);
  }
}

TEST_CASE("verification rows keep the attention schema, which no model is fitted to yet") {
  const Read r = read_back(Attention{Format::Bf16, 4, 5, 1024, 32, 8, 128});
  CHECK(r.schema == calibrate::Schema::Attention);
  CHECK(r.reason == "a prefix before several tokens, which no model is fitted to");
}

TEST_CASE("rows say what was measured, where and how") {
  FakeDevice device(1, FakeRates{.noise = 0});
  const Point p = Gemm{Format::Bf16, 16, 128, 256};
  CHECK(row(p, device.measure(p, Timing{3, true}), device.info(), true) ==
        "made_up,bfloat16,16,128,256,3.01297,3,0,made-up B200,none,cold,1965,3996,700");
  Outcome unread;
  unread.samples = {1};
  unread.kernel_source = "x";
  unread.clocks = {std::nan(""), std::nan(""), std::nan("")};
  CHECK(row(p, unread, device.info(), false) == "x,bfloat16,16,128,256,1,1,0,made-up B200,none,warm,,,");
}

TEST_CASE("files are named for the calibration, NCCL's own after its version") {
  CHECK(file_name(TableId::Gemm, "b200", "mine-1", "2.27.5") == "b200__mine-1__gemm_perf.csv");
  CHECK(file_name(TableId::Nccl, "b200", "mine-1", "2.27.5") == "b200__nccl-2.27.5__nccl_perf.csv");
  const auto name = calibrate::table_name("x/" + file_name(TableId::ScaleMatrix, "b200", "mine-1", ""));
  CHECK(name.gpu == "b200");
  CHECK(name.stack == "mine-1");
  CHECK(name.table == "scale_matrix_perf");
}

TEST_CASE("devices are named as their profiles") {
  CHECK(gpu_name("NVIDIA B200") == "b200");
  CHECK(gpu_name("NVIDIA GB200") == "gb200");
  CHECK(gpu_name("NVIDIA H100 80GB HBM3") == "h100");
  CHECK(gpu_name("NVIDIA H200") == "h200");
  CHECK(gpu_name("NVIDIA A100-SXM4-80GB") == "a100-80gb");
  CHECK(gpu_name("NVIDIA L40S") == "l40s");
  CHECK(gpu_name("New Thing 1") == "new-thing-1");
}
