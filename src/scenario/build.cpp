#include "scenario/build.hpp"

#include "config/json_reader.hpp"
#include "config/json_writer.hpp"
#include "core/units.hpp"
#include "cost/parallel.hpp"
#include "cost/rate.hpp"
#include "scenario/inputs.hpp"
#include "scenario/kernel_paths.hpp"
#include "scenario/layer_rules.hpp"
#include "scenario/length_rules.hpp"
#include "scenario/library.hpp"
#include "scenario/remedy.hpp"
#include "workload/lengths.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

namespace servecast::scenario {

namespace {

using precision::Format;

config::Document scenario_document(const Request& request, core::Problems& problems) {
  const config::Reference reference{request.name, "", "servecast"};
  std::optional<config::Document> document = load(Kind::Scenario, reference, problems);
  problems.raise_if_any();
  for (const std::string& assignment : request.sets) document->set(assignment, problems);
  return std::move(*document);
}

// Reads what a reference means. A file's content replaces the reference, so that the resolved document stands alone.
struct Reader {
  std::vector<metrics::InputHash>& inputs;
  core::Problems& problems;

  template <typename T>
  void read(Kind kind, config::Reference& reference, T& value) const;
  // of a GPU: kernel profiles may be files too
  void read_stack(const std::string& gpu, config::Reference& reference, Stack& stack) const;

 private:
  static void keep_content(const config::Document& document, config::Reference& reference);
};

template <typename T>
void Reader::read(Kind kind, config::Reference& reference, T& value) const {
  if (reference.empty()) return;  // reported as a missing key
  const std::optional<config::Document> document = load(kind, reference, problems);
  if (!document) return;
  record_inputs(inputs, std::string(name_of(kind)), *document);
  config::read(*document, value, problems);
  keep_content(*document, reference);
}

void Reader::read_stack(const std::string& gpu, config::Reference& reference, Stack& stack) const {
  if (reference.empty()) return;
  std::optional<config::Document> document = load(Kind::Stack, reference, problems);
  if (!document) return;
  record_inputs(inputs, std::string(name_of(Kind::Stack)), *document);
  config::read(*document, stack, problems);
  resolve_kernel_paths(gpu, *document, stack, inputs, problems);
  keep_content(*document, reference);
}

void Reader::keep_content(const config::Document& document, config::Reference& reference) {
  if (!reference.inline_json.empty() || !is_path(reference.name)) return;
  reference.inline_json = document.text();
  reference.name.clear();
}

// A node names its GPU and fabric; the node's own place is where an unknown name is reported.
void read_hardware(Resolved& r, const Reader& reader) {
  config::Reference& node = r.scenario.cluster.node;
  const std::string place = node.place;
  reader.read(Kind::Node, node, r.node);
  if (r.node.gpu.empty()) return;
  config::Reference gpu{r.node.gpu, "", place + "/gpu"};
  config::Reference fabric{r.node.fabric, "", place + "/fabric"};
  reader.read(Kind::Gpu, gpu, r.gpu);
  reader.read(Kind::Fabric, fabric, r.fabric);
}

// MXFP4 experts: engines quantise activations to MXFP8 where tensor cores multiply the two (Blackwell), else none.
Format default_activations(const model::TensorFormats& formats, const hardware::Gpu& gpu) {
  const Format widest_user = formats.mlp == Format::BFloat16 ? formats.experts : formats.mlp;
  switch (widest_user) {
    case Format::Nvfp4:
    case Format::Fp8:
    case Format::Fp8Block:
    case Format::Mxfp8:
    case Format::Int8: return widest_user;
    case Format::Mxfp4: return gpu.dense.fp4 > 0 ? Format::Mxfp8 : Format::BFloat16;
    default: return Format::BFloat16;  // weight-only formats compute in 16 bits
  }
}

// A given value wins and is stated from then on.
void settle(std::optional<Format>& given, Format& value) {
  if (given) value = *given;
  given = value;
}

void settle_feed_forward(const model::Architecture& m, const hardware::Gpu& gpu, Precision& p, PoolSetup& setup) {
  if (p.policy == PrecisionPolicy::Dynamic) {
    p.quality_floor_db = p.quality_floor_db.value_or(default_quality_floor_db);
    setup.precision = choose_precision(m, gpu, *p.quality_floor_db);
    setup.formats.feed_forward = setup.precision->feed_forward();
    setup.weight_keys.clear();
    // What is left for the pool's activations are the inputs of attention.
    setup.formats.mlp = setup.formats.experts = setup.formats.attention;
    setup.activations = default_activations(setup.formats, gpu);
    setup.formats.mlp = setup.formats.experts = Format::BFloat16;
    return;
  }
  settle(p.mlp, setup.formats.mlp);
  settle(p.experts, setup.formats.experts);
  setup.activations = default_activations(setup.formats, gpu);
  settle(p.activations, setup.activations);
}

void resolve_precision(const model::Architecture& m, const hardware::Gpu& gpu, Precision& p, PoolSetup& setup) {
  setup.formats = p.weights ? model::quantised(m.formats, *p.weights) : m.formats;
  p.weights.reset();  // now stated class by class
  setup.weight_keys = {"weights"};
  if (p.attention) setup.weight_keys.push_back("attention");
  if (p.mlp) setup.weight_keys.push_back("mlp");
  if (p.experts) setup.weight_keys.push_back("experts");
  settle(p.attention, setup.formats.attention);
  settle(p.router, setup.formats.router);
  settle(p.lm_head, setup.formats.lm_head);
  settle(p.embedding, setup.formats.embedding);
  settle_feed_forward(m, gpu, p, setup);
  settle(p.kv_cache, setup.kv_cache);
}

// GPUs that scale-up links join.
std::int32_t domain_of(const hardware::Node& node, std::int32_t nodes) {
  return static_cast<std::int32_t>(std::min<std::int64_t>(node.scale_up_domain, std::int64_t{node.gpus} * nodes));
}

std::int32_t domain_of(const Resolved& r) { return domain_of(r.node, r.scenario.cluster.nodes); }

// One problem at a time: a size that the machines or the model refuse says nothing about replicas.
void check_room(const Resolved& r, const Pool& pool, const std::string& place, core::Problems& problems) {
  const std::int32_t tensor = pool.parallel.tensor;
  const std::int32_t domain = domain_of(r);
  if (tensor > domain) {
    problems.add(place + "/parallel/tensor",
                 "tensor {} is more than the {} that {} joins by scale-up links, and tensor parallelism across "
                 "machines is not in this version of servecast; use {}",
                 tensor, core::counted(domain, "GPU"), r.node.name, cost::tensor_sizes(r.model, domain));
    return;
  }
  const std::size_t before = problems.lines().size();
  const std::int32_t ranks = cost::ranks_per_gpu(pool.device, r.gpu);
  cost::check_parallel(r.model, tensor * ranks, domain * ranks, problems,
                       place + (ranks > 1 ? "/device/placement" : "/parallel/tensor"));
  const std::int64_t fit = replicas_that_fit(r.node, r.scenario.cluster.nodes, tensor);
  if (problems.lines().size() > before || pool.replicas <= fit) return;
  problems.add(place + "/replicas",
               "needs {} for {} of {}; {} of {} make {}, room for {}; lower replicas or raise cluster/nodes",
               core::counted(std::int64_t{pool.replicas} * tensor, "GPU"), core::counted(pool.replicas, "replica"),
               core::counted(tensor, "GPU"), core::counted(r.scenario.cluster.nodes, "node"),
               core::counted(r.node.gpus, "GPU"), std::int64_t{r.node.gpus} * r.scenario.cluster.nodes,
               core::counted(fit, "replica"));
}

void resolve_pool(Resolved& r, std::size_t i, core::Problems& problems) {
  Pool& pool = r.scenario.pools[i];
  PoolSetup& setup = r.pools[i];
  setup.device = cost::rank_device(pool.device, r.gpu);
  resolve_precision(r.model, r.gpu, pool.precision, setup);
  setup.user = pool.engine;
  const std::size_t before = problems.lines().size();
  cost::check_supported(pool.parallel, problems, setup.place + "/parallel");
  cost::check_device(pool.device, r.gpu, problems, setup.place + "/device");
  check_room(r, pool, setup.place, problems);
  cost::check_activations({setup.formats, setup.activations, setup.kv_cache}, r.model, problems,
                          setup.place + "/precision");
  const FitInput input = fit_input(r, i);
  check_decode_context(input, setup.place + "/parallel/decode_context", problems);
  if (problems.lines().size() == before)
    if (const auto problem = fit_problem(input)) problems.add(setup.place, *problem);
  pool.engine = settings_of(input);
  if (problems.lines().size() == before)
    check_layers(setup.stack, r.model, layout_of(input, pool.engine), pool.engine, setup.place + "/engine", problems);
  check_settings(pool.engine, r.model.max_position, setup.place + "/engine", problems);
  check_scheduler_settings(setup.stack.scheduler, pool.engine, setup.place + "/engine", problems);
}

// Everything that r.scenario names, and the rules across sections.
void resolve_parts(Resolved& r, const PlaceOf& place, core::Problems& problems) {
  const Reader reader{r.inputs, problems};
  reader.read(Kind::Model, r.scenario.model, r.model);
  read_hardware(r, reader);
  r.pools.resize(r.scenario.pools.size());
  for (std::size_t i = 0; i < r.pools.size(); ++i) {
    r.pools[i].place = place(fmt::format("/pools/{}", i));
    reader.read_stack(r.gpu.name, r.scenario.pools[i].stack, r.pools[i].stack);
    if (config::Reference& draft = r.scenario.pools[i].draft_model; !draft.empty())
      reader.read(Kind::Model, draft, r.pools[i].draft.emplace());
  }
  for (std::size_t i = 0; i < r.scenario.thresholds.size(); ++i)
    r.threshold_places.push_back(place(fmt::format("/thresholds/{}/metric", i)));
  problems.raise_if_any();
  r.sequences_place = place(r.scenario.workload.beam ? "/workload/beam" : "/workload/samples");
  if (r.scenario.pools.empty()) problems.add(place("/pools"), "the list is empty; give one pool");
  for (std::size_t i = 0; i < r.pools.size(); ++i) resolve_pool(r, i, problems);
  if (!r.pools.empty()) check_lengths(r.scenario.workload, *r.scenario.pools[0].engine.max_model_len, place, problems);
  if (!r.scenario.price.gpu_hour_usd && r.gpu.gpu_hour_usd > 0) r.scenario.price.gpu_hour_usd = r.gpu.gpu_hour_usd;
}

void resolve_paths(const config::Document& document, Scenario& s) {
  if (!s.workload.trace) return;
  const std::string path = resolve_path(document.place("/workload/trace"), *s.workload.trace);
  s.workload.trace = std::filesystem::absolute(path).lexically_normal().string();
}

}  // namespace

std::int64_t Resolved::gpus_used() const {
  std::int64_t gpus = 0;
  for (const Pool& pool : scenario.pools) gpus += std::int64_t{pool.replicas} * pool.parallel.gpus();
  return gpus;
}

Resolved resolve(const Request& request) {
  core::Problems problems;
  const config::Document document = scenario_document(request, problems);
  Resolved r;
  record_inputs(r.inputs, "scenario", document);
  config::read(document, r.scenario, problems);
  if (request.seed) r.scenario.seed = *request.seed;
  resolve_parts(
      r, [&document](const std::string& pointer) { return document.place(pointer); }, problems);
  resolve_paths(document, r.scenario);
  problems.raise_if_any();
  return r;
}

Resolved resolve(Scenario scenario, const std::string& place) {
  core::Problems problems;
  Resolved r;
  r.scenario = std::move(scenario);
  resolve_parts(
      r, [&place](const std::string& pointer) { return place + ":" + pointer; }, problems);
  problems.raise_if_any();
  return r;
}

std::string resolved_json(const Resolved& r) { return config::write(r.scenario); }

std::int64_t replicas_that_fit(const hardware::Node& node, std::int32_t nodes, std::int32_t tensor) {
  const std::int64_t domain = domain_of(node, nodes);
  return std::int64_t{node.gpus} * nodes / domain * (domain / tensor);
}

FitInput fit_input(const Resolved& r, std::size_t pool) {
  FitInput in;
  in.architecture = r.model;
  in.formats = r.pools[pool].formats;
  in.kv_cache = r.pools[pool].kv_cache;
  in.gpu = r.pools[pool].device;
  in.stack = r.pools[pool].stack;
  in.settings = r.pools[pool].user;
  in.decode_context = r.scenario.pools[pool].parallel.decode_context;
  in.draft = r.pools[pool].draft;
  in.ranks_per_gpu = cost::ranks_per_gpu(r.scenario.pools[pool].device, r.gpu);
  in.tensor = r.scenario.pools[pool].parallel.tensor * in.ranks_per_gpu;
  in.domain = domain_of(r) * in.ranks_per_gpu;
  in.domains = static_cast<std::int32_t>(std::int64_t{r.node.gpus} * r.scenario.cluster.nodes / domain_of(r));
  in.replicas = r.scenario.pools[pool].replicas;
  in.pointer = fmt::format("/pools/{}", pool);
  in.weight_keys = r.pools[pool].weight_keys;
  in.mean_request_tokens = mean_request_tokens(r.scenario.workload);
  return in;
}

Fits fit_all(const Resolved& r) {
  Fits fits;
  for (std::size_t i = 0; i < r.pools.size(); ++i) {
    const FitInput input = fit_input(r, i);
    fits.pools.push_back(fit(input));
    if (fits.pools.back().fits || !fits.problem.empty()) continue;
    const std::optional<Remedy> remedy = smallest_change(input);
    fits.problem =
        fmt::format("{} of pool \"{}\" does not fit on {}: {}; {}", r.model.name, r.scenario.pools[i].name, r.gpu.name,
                    fits.pools.back().reason,
                    remedy ? "smallest change that fits: " + remedy->text() : "no change of one pool makes it fit");
  }
  return fits;
}

}  // namespace servecast::scenario
