// `describe`: one model, GPU, node, fabric or stack, with the source of every number.
#include "cli/output.hpp"
#include "cli/verbs.hpp"
#include "config/closest.hpp"
#include "config/json_reader.hpp"
#include "config/json_writer.hpp"
#include "core/error.hpp"
#include "core/units.hpp"
#include "fabric/profile.hpp"
#include "hardware/gpu.hpp"
#include "hardware/power.hpp"
#include "model/blocks.hpp"
#include "model/kv_bytes.hpp"
#include "model/parameters.hpp"
#include "report/figures.hpp"
#include "report/table.hpp"
#include "scenario/library.hpp"
#include "scenario/memory_rates.hpp"
#include "scenario/stack.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace servecast::cli {

namespace {

using core::count_text;
using core::counted;
using core::number_text;
using scenario::Kind;

template <typename T>
T read(Kind kind, const std::string& name) {
  core::Problems problems;
  T value{};
  const auto document = scenario::load(kind, {name, "", "describe"}, problems);
  if (document) config::read(*document, value, problems);
  problems.raise_if_any();
  return value;
}

// The first line after `first`, the others indented.
std::string wrapped(std::string_view first, std::string_view text, std::size_t indent) {
  const std::string before(indent, ' ');
  std::string out;
  if (text.empty()) return fmt::format("{}\n", first);
  for (const std::string& line : report::wrap(text, report::terminal_width - std::max(first.size(), indent)))
    out += fmt::format("{}{}\n", out.empty() ? std::string(first) : before, line);
  return out;
}

std::string row(std::string_view label, std::string_view value) {
  constexpr std::size_t column = 33;
  return wrapped(fmt::format("  {:<30} ", label), value, column);
}

std::string note_text(std::string_view kind, std::string_view text) {
  return text.empty() ? "" : "\n" + wrapped(fmt::format("{}: ", kind), text, 2);
}

std::string origins_text(const std::vector<hardware::Origin>& origins) {
  std::string text = "\nsources\n";
  for (const hardware::Origin& o : origins)
    text += wrapped("  ",
                    fmt::format("{} ({}): {}", fmt::join(o.keys, ", "),
                                names_of(o.kind)[static_cast<std::size_t>(o.kind)], o.source),
                    4);
  return text;
}

std::string attention_text(const model::Attention& a) {
  if (a.kind == model::AttentionKind::Mla)
    return fmt::format("MLA, {}, latent {} + {} rotary", counted(a.heads, "head"), a.kv_lora_rank, a.qk_rope_dim);
  std::string text =
      fmt::format("{}, {}, head size {}", counted(a.heads, "head"), counted(a.kv_heads, "KV head"), a.head_dim);
  if (model::value_width(a) != a.head_dim) text += fmt::format(", of values {}", model::value_width(a));
  return text;
}

std::string mixer_text(const model::Architecture& m, const model::BlockKind& k) {
  const model::Attention& a = model::attention_of(m, k);
  if (k.mixer == model::Mixer::None) return "no attention";
  if (k.mixer == model::Mixer::State) return "state";
  std::string text = k.mixer == model::Mixer::Cross ? "attention to an encoder" : "attention";
  if (k.attention) text += ", " + attention_text(a);
  if (a.window > 0) text += fmt::format(", window {}", count_text(a.window));
  if (a.indexer_top_k > 0 && a.indexer_heads == 0) text += ", selection of an earlier block";
  return text;
}

// The kinds of blocks of a model that states them, and its state.
std::string blocks_text(const model::Architecture& m) {
  std::string text;
  if (m.state)
    text += row("state",
                fmt::format("{}, {} of {} x {}, {}", names_of(m.state->kind)[static_cast<std::size_t>(m.state->kind)],
                            counted(m.state->heads, "head"), m.state->head_dim, m.state->state_dim,
                            precision::name(m.state->format)));
  if (!m.blocks) return text;
  for (const model::BlockKind& k : m.blocks->kinds) {
    const auto n = std::count(m.blocks->order.begin(), m.blocks->order.end(), k.letter[0]);
    const std::int32_t width = k.intermediate > 0 ? k.intermediate : m.intermediate;
    const std::string half = k.feed_forward == model::FeedForward::Experts ? "experts"
                             : k.feed_forward == model::FeedForward::None  ? "no MLP"
                                                                           : fmt::format("MLP {}", count_text(width));
    text +=
        row(fmt::format("{} of kind {}", counted(n, "block"), k.letter), fmt::format("{}; {}", mixer_text(m, k), half));
  }
  return text;
}

std::string kv_text(const model::Architecture& m) {
  std::string text = "\nKV cache, bytes per token over all layers and one rank\n";
  for (const auto format : {precision::Format::BFloat16, precision::Format::Fp8, precision::Format::Nvfp4}) {
    if (model::kv_format_problem(m, format)) continue;
    const model::KvBytes kv = model::kv_bytes(m, format, 1);
    std::string value = count_text(kv.per_token);
    if (kv.beyond_window != kv.per_token) value += fmt::format(", beyond the window {}", count_text(kv.beyond_window));
    if (kv.indexer > 0) value += fmt::format(", and {} of the indexer", count_text(kv.indexer));
    text += row(precision::name(format), value);
  }
  const model::KvBytes bytes = model::kv_bytes(m, precision::Format::BFloat16, 1);
  if (bytes.per_sequence > 0)
    text += row("and per sequence", fmt::format("{} bytes whatever its length{}", count_text(bytes.per_sequence),
                                                m.encoder_tokens > 0 ? ", in bf16" : ""));
  return text;
}

std::string formats_text(const model::TensorFormats& f) {
  using precision::name;
  return "\nformats of the checkpoint\n" + row("attention", name(f.attention)) + row("MLP", name(f.mlp)) +
         row("experts", name(f.experts)) + row("router", name(f.router)) + row("LM head", name(f.lm_head)) +
         row("embedding", name(f.embedding));
}

std::string model_text(const model::Architecture& m) {
  const model::Parameters p = model::count_parameters(m);
  std::string text = fmt::format("{} ({})\n\n", m.name, m.family);
  text += row("parameters", count_text(p.total)) + row("active per token", count_text(p.active)) +
          row("  without input embedding", count_text(p.active_without_embedding));
  if (m.published)
    text += row("published, billions",
                fmt::format("{} total, {} active{}", number_text(m.published->total_billion),
                            number_text(m.published->active_billion),
                            m.published->counting.empty() ? "" : " (" + m.published->counting + ")"));
  text += row("layers", fmt::format("{} ({} dense, {} MoE)", m.layers, m.dense_layers, m.moe ? m.moe->layers : 0)) +
          row("hidden, vocabulary", fmt::format("{}, {}{}", m.hidden, m.vocab, m.tied_embeddings ? " (tied)" : "")) +
          row("attention", attention_text(m.attention));
  if (m.attention.window > 0)
    text += row("window", fmt::format("{} in {}", counted(m.attention.window, "token"),
                                      counted(m.attention.windowed_layers, "layer")));
  text += blocks_text(m);
  if (m.dense_layers > 0 && m.intermediate > 0) text += row("MLP width", count_text(m.intermediate));
  if (m.moe)
    text += row("experts", fmt::format("{}, top {}, width {}, {} shared{}", m.moe->experts, m.moe->top_k,
                                       m.moe->intermediate, m.moe->shared_experts,
                                       m.moe->latent > 0 ? fmt::format(", in {} latent", m.moe->latent) : ""));
  text += row("longest sequence", count_text(m.max_position)) + kv_text(m) + formats_text(m.formats);
  return text + note_text("note", m.note) + note_text("source", m.source);
}

std::string peaks_text(const hardware::Peaks& p) {
  std::string text;
  const auto add = [&text](std::string_view name, double value) {
    if (value > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, number_text(value));
  };
  add("bf16", p.bf16), add("fp8", p.fp8), add("fp4", p.fp4), add("int8", p.int8);
  return text.empty() ? "none stated" : text;
}

std::string memory_text(const hardware::Gpu& g) {
  const hardware::MemoryParts& m = g.memory;
  std::string text = row("memory", fmt::format("{} GiB at {} TB/s{}", number_text(g.memory_gib),
                                               number_text(g.memory_tb_s), m.type.empty() ? "" : ", " + m.type));
  if (m.bus_bits > 0)
    text +=
        row("  rate", fmt::format("{}{} bits at {} Gbit/s each", m.stacks > 0 ? counted(m.stacks, "stack") + ", " : "",
                                  number_text(m.bus_bits), number_text(m.gbit_s_per_pin)));
  if (m.label_tb_s > 0) text += row("  rate on the label", fmt::format("{} TB/s", number_text(m.label_tb_s)));
  if (m.fitted_gb > 0)
    text += row("  capacity", fmt::format("{}{} fitted, {} to software",
                                          m.chip_gb > 0 ? number_text(m.chip_gb) + " on the chip, " : "",
                                          number_text(m.fitted_gb), number_text(g.memory_gib)));
  if (m.ecc_share > 0 || m.refresh_share > 0)
    text += row("  ECC, refresh", fmt::format("{} of the capacity, {} of the time", core::percent_text(m.ecc_share),
                                              core::percent_text(m.refresh_share)));
  const scenario::MemoryRates achieved = scenario::memory_rates(g);
  for (const scenario::MemoryRate& r : achieved.rates)
    text += row(fmt::format("  reached at {} MB", number_text(r.bytes / 1e6)),
                fmt::format("{} weights, {} KV cache ({})", core::percent_text(r.weights),
                            core::percent_text(r.kv_cache), achieved.stack));
  return text;
}

std::string power_text(const hardware::Gpu& g) {
  const hardware::PowerFacts p = hardware::power_facts(g);
  std::string text = row("power limit, idle", fmt::format("{} W, {} W", number_text(g.tdp_w), number_text(g.idle_w)));
  if (p.limit_w <= 0) return text;
  const std::string origin = p.scaled ? ", scaled from b200 by the limit" : "";
  text += row("  loaded idle, kernels running",
              fmt::format("{} W, {} W{}", number_text(p.loaded_idle_w), number_text(p.active_w), origin));
  text += row("  bf16, fp8, fp4", fmt::format("{}, {}, {} pJ per FLOP{}", number_text(p.bf16_j * 1e12),
                                              number_text(p.fp8_j * 1e12), number_text(p.fp4_j * 1e12), origin));
  return text + row("  memory", fmt::format("{} pJ per byte{}", number_text(p.memory_j * 1e12), origin));
}

std::string dies_text(const hardware::Gpu& g) {
  if (g.dies == 1) return "";
  std::string text =
      row("each die", fmt::format("{}{}, {} MB of L2", counted(g.sm_count / g.dies, "SM"),
                                  g.memory.stacks >= g.dies ? ", " + counted(g.memory.stacks / g.dies, "stack") : "",
                                  number_text(g.l2_mb / g.dies)));
  if (g.die_link_tb_s > 0)
    text += row("link between dies",
                fmt::format("{} TB/s, {} each way", number_text(g.die_link_tb_s), number_text(g.die_link_tb_s / 2)));
  if (g.far_l2_ns > 0) text += row("L2 of the other die", fmt::format("{} ns further", number_text(g.far_l2_ns)));
  return text;
}

std::string gpu_text(const hardware::Gpu& g) {
  std::string text = fmt::format("{} ({}, {})\n\n", g.name, g.architecture, counted(g.dies, "die"));
  text += row("dense TFLOP/s", peaks_text(g.dense)) + row("sparse TFLOP/s (display only)", peaks_text(g.sparse)) +
          memory_text(g) + row("L2", fmt::format("{} MB", number_text(g.l2_mb))) +
          row("SMs, boost clock", fmt::format("{}, {} MHz", g.sm_count, number_text(g.boost_mhz)));
  if (g.peak_mhz > 0) text += row("clock of the peaks", fmt::format("{} MHz", number_text(g.peak_mhz)));
  text += dies_text(g);
  text += row("scale-up, per direction", fmt::format("{} GB/s", number_text(g.scale_up_gb_s))) +
          row("host link, per direction", fmt::format("{} GB/s", number_text(g.pcie_gb_s))) +
          row("network", fmt::format("{} Gbit/s", number_text(g.nic_gbit_s))) + power_text(g);
  if (g.gpu_hour_usd > 0) text += row("indicative price", fmt::format("{} USD/h", number_text(g.gpu_hour_usd)));
  return text + note_text("note", g.note) + origins_text(g.origin);
}

std::string node_text(const hardware::Node& n) {
  std::string text = fmt::format("{}\n\n", n.name);
  text += row("GPUs", fmt::format("{} x {}", n.gpus, n.gpu)) +
          row("scale-up domain", counted(n.scale_up_domain, "GPU")) + row("fabric", n.fabric) +
          row("power besides GPUs", fmt::format("{} W", number_text(n.node_overhead_w)));
  if (n.nvme_read_gb_s > 0)
    text += row("local NVMe",
                fmt::format("{} GB/s read, {} written", number_text(n.nvme_read_gb_s), number_text(n.nvme_write_gb_s)));
  return text + note_text("note", n.note) + origins_text(n.origin);
}

std::string fabric_text(const fabric::ScaleUp& s) {
  std::string text = fmt::format("{}\n\n", s.name);
  text += row("per direction", fmt::format("{} GB/s", number_text(s.per_direction_gb_s))) +
          row("GPUs in one hop", fmt::format("{}", s.max_ranks));
  const auto point = [&text](int ranks, const fabric::RankPoint& p) {
    if (p.achieved > 0)
      text += row(fmt::format("all-reduce of {} ranks", ranks),
                  fmt::format("one-shot {} us, ring {} us, {} of nominal", number_text(p.one_shot_us),
                              number_text(p.ring_us), core::percent_text(p.achieved)));
  };
  point(2, s.ranks_2), point(4, s.ranks_4), point(8, s.ranks_8), point(72, s.ranks_72);
  return text + note_text("note", s.note) + origins_text(s.origin);
}

std::string kernel_tables_text(const scenario::KernelSources& k) {
  std::string text;
  const auto operator_text = [&text](const char* name, const std::vector<scenario::KernelChoice>& choices) {
    for (const scenario::KernelChoice& c : choices) {
      std::string when;
      for (const auto type : c.types) when += fmt::format(" {}", names_of(type)[static_cast<std::size_t>(type)]);
      for (const std::string& a : c.architectures) when += " " + a;
      if (!c.kernel.empty()) when += " " + c.kernel;
      text += row(name, fmt::format("{}{}", fmt::join(c.stacks, ", "), when.empty() ? "" : " for" + when));
    }
  };
  operator_text("matrix multiplication", k.gemm);
  operator_text("decode attention", k.decode);
  operator_text("prefill attention", k.prefill);
  operator_text("routed experts", k.moe);
  operator_text("all-reduce", k.all_reduce);
  return text;
}

std::string stack_text(const scenario::Stack& s) {
  std::string text = fmt::format("{}: {} {} (from {} on), scheduler {}\n\ndefaults by GPU\n", s.name,
                                 names_of(s.engine)[static_cast<std::size_t>(s.engine)], s.version, s.since,
                                 names_of(s.scheduler)[static_cast<std::size_t>(s.scheduler)]);
  for (const scenario::GpuClass& c : s.gpu_classes)
    text += row(fmt::format("from {} GiB{}", number_text(c.min_memory_gib),
                            c.except_architecture.empty() ? "" : ", not " + c.except_architecture),
                fmt::format("{}, {}", counted(c.max_num_batched_tokens, "token"), counted(c.max_num_seqs, "request")));
  text += fmt::format("\nengine settings\n{}\nmemory recipe\n{}\nhost times\n{}", config::write(s.settings),
                      config::write(s.memory), config::write(s.host));
  if (s.kernel_tables) text += "\nkernel tables\n" + kernel_tables_text(*s.kernel_tables);
  return text + note_text("note", s.note) + origins_text(s.origin);
}

template <typename T>
void show(Kind kind, const DescribeOptions& options, std::string (*text)(const T&)) {
  const T value = read<T>(kind, options.name);
  print(options.json ? config::write(value) : text(value));
}

// "hardware" covers nodes and GPUs; a path is read as a GPU if it states an architecture.
void show_hardware(const DescribeOptions& options) {
  if (scenario::is_path(options.name)) {
    core::Problems problems;
    const auto document = scenario::load(Kind::Gpu, {options.name, "", "describe"}, problems);
    problems.raise_if_any();
    if (document->contains("/gpus")) return show<hardware::Node>(Kind::Node, options, node_text);
    return show<hardware::Gpu>(Kind::Gpu, options, gpu_text);
  }
  if (scenario::find(Kind::Node, options.name)) return show<hardware::Node>(Kind::Node, options, node_text);
  if (scenario::find(Kind::Gpu, options.name)) return show<hardware::Gpu>(Kind::Gpu, options, gpu_text);
  std::vector<std::string> known = scenario::names(Kind::Node);
  for (const std::string& gpu : scenario::names(Kind::Gpu)) known.push_back(gpu);
  throw core::InputError("describe",
                         fmt::format("unknown hardware \"{}\"{}", options.name, config::hint(options.name, known)));
}

}  // namespace

int describe(const DescribeOptions& options) {
  static constexpr std::string_view kinds[] = {"model", "hardware", "fabric", "stack"};
  if (options.kind == "model")
    show<model::Architecture>(Kind::Model, options, model_text);
  else if (options.kind == "hardware" || options.kind == "gpu" || options.kind == "node")
    show_hardware(options);
  else if (options.kind == "fabric")
    show<fabric::ScaleUp>(Kind::Fabric, options, fabric_text);
  else if (options.kind == "stack")
    show<scenario::Stack>(Kind::Stack, options, stack_text);
  else
    throw core::InputError("describe",
                           fmt::format("unknown kind \"{}\"{}", options.kind, config::hint(options.kind, kinds)));
  return exit_done;
}

}  // namespace servecast::cli
