#include "cost/kernels/family.hpp"

#include <cmath>

namespace servecast::cost::kernels {

namespace {

constexpr double e3 = 20.0855369231876677;
constexpr double e4 = 54.5981500331442391;
constexpr double e5 = 148.413159102576603;
constexpr double e6 = 403.428793492735123;

constexpr std::string_view gemm_features[] = {"m", "n", "k"};
constexpr Parameter gemm_parameters[] = {
    {"t0_us", 4, 4 / e4, 4 * e4}, {"tk_us", .3, .3 / e4, .3 * e4}, {"ec", .7, .2, 1.05},
    {"eb", .85, .6, 1},           {"hs", .5, .5 / e4, .5 * e4},    {"q", 1, 1 / e4, e4},
    {"rs_kb_us", 80, 60, 400},
};

constexpr std::string_view decode_features[] = {"batch", "heads", "kv_heads", "head_dim", "context", "window"};
constexpr Parameter decode_parameters[] = {
    {"t0_us", 7, 7 / e5, 7 * e3},    {"eb", .9, .8, 1},        {"x2", 1, 1 / e5, e3}, {"cap", .8, .1, 3},
    {"tl_us", .5, .5 / e5, .5 * e3}, {"cu_us", 1, 1 / e5, e3}, {"q", 1, 1 / e5, e3},  {"rs_kb_us", 40, 2, 400},
};

constexpr std::string_view prefill_features[] = {"batch",    "tokens", "heads", "kv_heads",
                                                 "head_dim", "window", "prefix"};
constexpr Parameter prefill_parameters[] = {
    {"t0_us", 8, 8 / e5, 8 * e3},    {"ec", .7, .1, 2.2},          {"rs_kb_us", 20, 1, 400},
    {"ct_us", .3, .3 / e5, .3 * e3}, {"sh", .5, .5 / e5, .5 * e3}, {"q", 1, 1 / e5, e3},
};

constexpr std::string_view mla_decode_features[] = {"batch", "context", "heads"};
constexpr Parameter mla_decode_parameters[] = {
    {"t0_us", 8, 8 / e4, 8 * e3},    {"eb", .8, .8 / e4, .8 * e3}, {"ec", .5, .5 / e4, .5 * e3},
    {"tl_us", .5, .5 / e4, .5 * e3}, {"cb_us", 1, 1 / e4, e3},     {"x2", 1, 1 / e4, e3},
    {"cap", .7, .7 / e4, .7 * e3},   {"ph", 1, 1 / e4, e3},        {"q", 1, 1 / e4, e3},
};

constexpr std::string_view mla_prefill_features[] = {"batch", "tokens", "heads"};
constexpr Parameter mla_prefill_parameters[] = {
    {"t0_us", 10, 10 / e4, 10 * e3}, {"ec", .6, .6 / e4, .6 * e3}, {"eb", .6, .6 / e4, .6 * e3},
    {"ct_us", 1, 1 / e4, e3},        {"cg", .6, .6 / e4, .6 * e3}, {"q", .5, .5 / e4, .5 * e3},
};

constexpr std::string_view mla_bmm_features[] = {"tokens", "heads"};
constexpr Parameter mla_bmm_parameters[] = {
    {"t0_us", 3, 3 / e3, 3 * e3}, {"ec", .5, .02, 1.05}, {"eb", .8, .02, 1.5}, {"q", 1, 1 / e4, e4}};

// inter: per rank, after tensor parallelism; local_experts: per rank. The last four come from expert_load.
constexpr std::string_view moe_features[] = {"tokens", "hidden", "inter",  "local_experts", "top_k",
                                             "ep",     "rows",   "active", "rows_by_16",    "rows_by_64"};
constexpr Parameter moe_parameters[] = {
    {"t0_us", 25, 25 / e6, 25 * e5},
    {"eb", .8, .8 / e6, .8 * e5},
    {"ec", .5, .5 / e6, .5 * e5},
    {"ca", 1, 1 / e6, e5},
    {"ce_us", .5, .5 / e6, .5 * e5},
    {"cx_us", .3, .3 / e6, .3 * e5},
    {"q", 1, 1 / e6, e5},
    {"wi", .1, .1 / e6, .1 * e5},
};

constexpr std::string_view quantise_features[] = {"rows", "width"};
constexpr Parameter quantise_parameters[] = {
    {"t0_us", 2, 2 / e4, 2 * e4}, {"eb", .6, .01, 1.3}, {"x2", .5, .5 / e5, .5 * e5}, {"cap", .8, .05, 3}};

constexpr std::string_view exchange_features[] = {"tokens", "hidden", "top_k", "experts", "sms"};
constexpr Parameter low_latency_parameters[] = {
    {"t0_us", 10, 10 / e3, 10 * e3},    {"ce_us", 4, 4 / e5, 4 * e5}, {"bw_gb_s", 400, 400 / e4, 400 * e4},
    {"bwe_gb_s", 10, 10 / e5, 10 * e5}, {"q", 1, 1 / e4, e4},         {"ct_us", 1, 1 / e5, e5},
};
constexpr Parameter normal_parameters[] = {{"t0_us", 30, 30 / e3, 30 * e3},
                                           {"b_gb_s", 18, 18 / e3, 18 * e3},
                                           {"q", .1, .1 / e5, .1 * e5},
                                           {"ct_us", 1, 1 / e5, 2.7}};

const FamilyInfo table[] = {
    {gemm_features, gemm_parameters},
    {decode_features, decode_parameters},
    {prefill_features, prefill_parameters},
    {mla_decode_features, mla_decode_parameters},
    {mla_prefill_features, mla_prefill_parameters},
    {mla_bmm_features, mla_bmm_parameters},
    {moe_features, moe_parameters},
    {quantise_features, quantise_parameters},
    {exchange_features, low_latency_parameters},
    {exchange_features, low_latency_parameters},
    {exchange_features, normal_parameters},
    {exchange_features, normal_parameters},
};
static_assert(std::size(table) == family_count);

}  // namespace

const FamilyInfo& info(Family family) { return table[static_cast<std::size_t>(family)]; }

}  // namespace servecast::cost::kernels
