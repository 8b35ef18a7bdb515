#include "fidelity/deploy.hpp"

#include "config/json_reader.hpp"
#include "scenario/library.hpp"

#include <charconv>

namespace servecast::fidelity {

namespace {

template <typename T>
T built_in(scenario::Kind kind, const std::string& name) {
  return config::read<T>(config::Document::from_text(*scenario::find(kind, name), name));
}

void set_size(Sizes& s, std::string_view key, std::string_view text) {
  std::int32_t n = 0;
  std::from_chars(text.data(), text.data() + text.size(), n);
  if (n < 1) n = 1;  // "None", "0"
  if (key == "tp") s.tensor = n;
  if (key == "pp") s.pipeline = n;
  if (key == "attn_dp" || key == "dp") s.data = n;
  if (key == "moe_tp") s.expert_tensor = n;
  if (key == "moe_ep" || key == "ep") s.expert = n;
}

bool place_stack(const RawDeployment& raw, const RowContext& context, Case& out, Placed& placed) {
  placed.deployment.engine = engine_named(raw.engine);
  const EngineNamed& engine = placed.deployment.engine;
  out.engine = lower_case(raw.engine);
  if (!engine.engine) {
    out.refuse("unknown engine", "unknown engine " + raw.engine);
    return false;
  }
  const scenario::StackMatch match = scenario::nearest_stack(context.stacks, *engine.engine, engine.version);
  if (match.stack == nullptr) {
    out.refuse("no stack of this engine", "no stack of " + raw.engine);
    return false;
  }
  out.match = match.match;
  out.stack = match.stack->name;
  return true;
}

}  // namespace

void Case::refuse(std::string why, std::string whole) {
  fate = Fate::Refused;
  detail = whole.empty() ? why : std::move(whole);
  reason = std::move(why);
  scenario.reset();
}

Sizes sizes_of(std::string_view text) {
  Sizes s;
  while (!text.empty()) {
    const std::size_t end = text.find(';');
    const std::string_view part = text.substr(0, end);
    const std::size_t equals = part.find('=');
    if (equals != std::string_view::npos) set_size(s, part.substr(0, equals), part.substr(equals + 1));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return s;
}

std::optional<double> number_in(const CsvRow& row, const std::string& column) {
  const std::string text = text_of(row, column);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool place(const RawDeployment& raw, const RowContext& context, Case& out, Placed& placed) {
  const Named model = model_named(raw.model);
  const Named node = node_named(raw.gpu);
  out.model = model.refused.empty() ? model.name : raw.model;
  out.gpu = raw.gpu;
  const bool stack = place_stack(raw, context, out, placed);
  if (!node.refused.empty()) {
    out.refuse(node.refused, node.refused + " " + raw.gpu);
    return false;
  }
  const auto machine = built_in<hardware::Node>(scenario::Kind::Node, node.name);
  out.gpu = machine.gpu;
  if (!model.refused.empty()) {
    out.refuse(model.refused, model.refused + " (" + raw.model + ")");
    return false;
  }
  if (!stack) return false;
  placed.model = built_in<model::Architecture>(scenario::Kind::Model, model.name);
  placed.sizes = sizes_of(raw.parallelism);
  placed.deployment.model_text = raw.model;
  placed.deployment.gpu_architecture = built_in<hardware::Gpu>(scenario::Kind::Gpu, machine.gpu).architecture;
  placed.deployment.weights = raw.weights;
  placed.deployment.experts = raw.experts;
  placed.deployment.kv = raw.kv;
  scenario::Scenario& s = out.scenario.emplace();
  s.name = out.id;
  s.model.name = model.name;
  s.cluster.node.name = node.name;
  scenario::Pool& pool = s.pools.emplace_back();
  pool.stack.name = out.stack;
  pool.parallel = {std::max(1, placed.sizes.tensor), placed.sizes.pipeline, placed.sizes.data, placed.sizes.expert};
  return true;
}

bool configure(const Placed& placed, const Load& load, Case& out) {
  Deployment d = placed.deployment;
  d.model = &placed.model;
  const auto precision = precision_of(d);
  if (!precision) {
    out.refuse("unknown number format", "no format stands for weights \"" + d.weights + "\", KV \"" + d.kv + "\"");
    return false;
  }
  scenario::Pool& pool = out.scenario->pools[0];
  pool.precision = *precision;
  pool.engine = settings_of(d, load);
  return true;
}

}  // namespace servecast::fidelity
