#include "catch.hpp"
#include "microbench/host/fake_device.hpp"
#include "microbench/host/families.hpp"
#include "microbench/host/tables.hpp"

#include <map>
#include <set>

using namespace servecast::microbench;

namespace {

std::vector<Point> all_points(const DeviceInfo& d, bool quick) {
  std::vector<Point> out;
  for (std::size_t i = 0; i < families().size(); ++i)
    for (Point& p : points_of(static_cast<FamilyId>(i), d, quick)) out.push_back(std::move(p));
  return out;
}

}  // namespace

TEST_CASE("no point is measured twice, and every point fits into the memory") {
  for (const bool quick : {false, true})
    for (const std::int64_t gib : {70, 170}) {
      DeviceInfo d = FakeDevice::fake_info();
      d.memory_bytes = gib << 30;
      std::set<std::pair<TableId, std::string>> seen;
      for (const Point& p : all_points(d, quick)) {
        CHECK(bytes_needed(p) > 0);
        CHECK(bytes_needed(p) < d.memory_bytes);
        CHECK(seen.insert({table_of(p), key(p)}).second);
      }
    }
}

TEST_CASE("a quick run has a tenth of the rows, and every format of every kernel enough for a fit") {
  const DeviceInfo d = FakeDevice::fake_info();
  const auto full = all_points(d, false), quick = all_points(d, true);
  CHECK(quick.size() * 10 < full.size());
  std::map<std::string, int> rows;
  for (const Point& p : quick) {
    if (const auto* g = std::get_if<Gemm>(&p)) ++rows[std::string("gemm ") + std::string(name_of(g->format))];
    if (const auto* a = std::get_if<Attention>(&p); a != nullptr && (a->cached == 0 || a->queries == 1))
      ++rows[a->cached == 0 ? "prefill"
                            : (a->heads == a->kv_heads ? "decode mha " : "decode gqa ") + std::string(name_of(a->kv))];
    if (const auto* e = std::get_if<Experts>(&p)) ++rows[e->alpha > 0 ? "moe skewed" : "moe balanced"];
    if (const auto* q = std::get_if<Quantise>(&p))
      ++rows[std::string(q->scale_search ? "search " : "scale ") + std::string(name_of(q->to))];
  }
  CHECK(rows.size() == 14);
  for (const auto& [name, count] : rows) {
    INFO(name);
    CHECK(count >= 20);
  }
}

TEST_CASE("grids follow the device: formats, GPUs, libraries") {
  DeviceInfo d = FakeDevice::fake_info();
  d.tensor_fp4 = false;
  d.gpus = 1;
  for (const Point& p : all_points(d, true)) {
    if (const auto* g = std::get_if<Gemm>(&p)) CHECK(g->format != Format::Nvfp4);
  }
  CHECK(points_of(FamilyId::Nccl, d, true).empty());
  CHECK(points_of(FamilyId::Peer, d, true).empty());
  d.gpus = 4;
  std::set<std::int64_t> gpus;
  for (const Point& p : points_of(FamilyId::Nccl, d, true)) gpus.insert(std::get<Collective>(p).gpus);
  CHECK(gpus == std::set<std::int64_t>{2, 4});
  d.nccl.clear();
  CHECK(points_of(FamilyId::Nccl, d, true).empty());
}

TEST_CASE("shapes are what the kernels can run") {
  for (const Point& p : all_points(FakeDevice::fake_info(), false)) {
    if (const auto* g = std::get_if<Gemm>(&p)) CHECK((g->n % 32 == 0 && g->k % 32 == 0));
    if (const auto* a = std::get_if<Attention>(&p)) {
      CHECK(a->heads % a->kv_heads == 0);
      CHECK((a->head_dim == 64 || a->head_dim == 128));
      CHECK(a->batch * a->kv_heads <= 65535);  // second dimension of the launch grid
    }
    if (const auto* e = std::get_if<Experts>(&p)) {
      CHECK((e->hidden % 64 == 0 && e->inter % 64 == 0));
      CHECK((e->top_k <= e->experts && e->experts % e->ep == 0));
      CHECK(e->tokens * e->top_k * e->hidden < std::int64_t{1} << 40);
    }
    if (const auto* q = std::get_if<Quantise>(&p)) CHECK(q->width % 64 == 0);
    if (const auto* c = std::get_if<Collective>(&p)) CHECK(c->elements % c->gpus == 0);
  }
}
