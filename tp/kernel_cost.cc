#include "tp/kernel_cost.h"

#include <algorithm>

#include "core/nearest.h"
#include "tp/attention_cost.h"
#include "tp/mixed_cost.h"
#include "tp/shard.h"

namespace headsplit::tp {
namespace {

/// Everything a formula may need, the rank's problem first.
struct Case {
  const Model& model;
  const Point& point;
  const CostOptions& options;
  RankProblem problem;
};

Work sparse_work(const Case& c) {
  const int top_k = point_top_k(c.model, c.point);
  return mla_sparse_work(c.problem, selected_rows(top_k, c.problem, c.point.layout.cp));
}

Work mixed_work(const Case& c) {
  const std::int64_t tokens = c.options.expanded_tokens / c.point.layout.cp;
  return mla_mixed_work(c.problem, std::min(tokens, c.problem.context));
}

/// Values are multiplied as they are stored.
Work fp8_products_work(const Case& c) {
  Work work = mla_dense_work(c.problem);
  work.fp8_flops = work.flops;
  work.dequant_values = 0;
  return work;
}

Work layer_work(const Case& c) {
  const double tokens = 1.0 * c.problem.batch * c.problem.query_tokens;
  const Work core = mla_dense_work(c.problem);
  return projection_work(c.model, c.point.layout, tokens, c.options.weight_dtype) +
         (is_prefill(c.point) ? causal_half(core) : core);
}

const std::vector<KvDtype> kBf16Cache = {KvDtype::bf16};
const std::vector<KvDtype> kScaledCaches = {KvDtype::bf16, KvDtype::fp8};
const std::vector<KvDtype> kTensorCache = {KvDtype::fp8_tensor};
const std::vector<KvDtype> kAllCaches = {KvDtype::bf16, KvDtype::fp8, KvDtype::fp8_tensor};

struct KernelCost {
  std::string name;
  std::vector<KvDtype> caches;  ///< that the kernel reads
  bool causal;  ///< halves its FLOPs in a prefill; mla_layer halves those of its core itself
  Work (*work)(const Case&);
};

const std::vector<KernelCost>& kernel_costs() {
  static const std::vector<KernelCost> costs = {
      {"mha_decode", kBf16Cache, true, [](const Case& c) { return per_head_work(c.problem); }},
      {"gqa_decode", kBf16Cache, true, [](const Case& c) { return per_head_work(c.problem); }},
      {"mqa_decode", kBf16Cache, true, [](const Case& c) { return per_head_work(c.problem); }},
      {"mla_dense", kAllCaches, true, [](const Case& c) { return mla_dense_work(c.problem); }},
      {"mla_dense_fp8_mma", kTensorCache, true, fp8_products_work},
      {"mla_sparse", kScaledCaches, true, sparse_work},
      {"dsa_indexer", kAllCaches, true,
       [](const Case& c) { return indexer_work(c.model, c.problem); }},
      {"mla_expanded", kBf16Cache, true,
       [](const Case& c) { return mla_expanded_work(c.problem); }},
      {"kv_expand", kScaledCaches, false, [](const Case& c) { return kv_expand_work(c.problem); }},
      {"mla_mixed", kBf16Cache, true, mixed_work},
      {"mla_layer", kAllCaches, false, layer_work}};
  return costs;
}

Result<void> check_cache(const KernelCost& cost, KvDtype dtype) {
  if (std::find(cost.caches.begin(), cost.caches.end(), dtype) != cost.caches.end()) return {};
  std::vector<std::string> legal;
  for (const KvDtype one : cost.caches) legal.push_back(enum_name(one));
  return fail(ErrorKind::config, "kv_dtype ", enum_name(dtype), ": ", cost.name,
              " has no such cache; legal: ", joined(legal));
}

Result<const KernelCost*> find_cost(const std::string& kernel) {
  for (const auto& cost : kernel_costs()) {
    if (cost.name == kernel) return &cost;
  }
  return fail(ErrorKind::config, "kernel '", kernel, "': unknown",
              did_you_mean(kernel, costed_kernels()));
}

}  // namespace

const std::vector<std::string>& costed_kernels() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> list;
    for (const auto& cost : kernel_costs()) list.push_back(cost.name);
    return list;
  }();
  return names;
}

std::string core_kernel(const Model& model) {
  return model.is_mla() ? "mla_dense" : enum_name(model.attention) + "_decode";
}

bool is_prefill(const Point& point) {
  return point.context > 1 && point.query_tokens == point.context;
}

Result<Work> kernel_work(const Model& model, const Point& point, const CostOptions& options,
                         int rank) {
  const KernelCost& cost = *TRY(find_cost(point.kernel));
  TRY(check_cache(cost, point.kv_dtype));
  const auto problem = TRY(rank_problem(model, point, rank));
  const Case c{model, point, options, problem};
  const Work work = cost.work(c);
  return cost.causal && is_prefill(point) ? causal_half(work) : work;
}

}  // namespace headsplit::tp
