#include <string>
#include <vector>

#include "kernels/dsa_indexer/dsa_indexer_cpu.h"
#include "kernels/kernel.h"
#include "kernels/kv_expand/kv_expand_cpu.h"
#include "kernels/kv_expand/shape.h"
#include "kernels/mla_dense/mla_dense_cpu.h"
#include "kernels/mla_sparse/mla_sparse_cpu.h"
#include "kernels/per_head/per_head_cpu.h"
#include "kernels/plugin.h"
#include "kernels/registry_cuda.h"

namespace headsplit::kernels {
namespace {

/// Four kernels are one implementation: how many KV heads a problem has is what tells them apart.
KernelEntry per_head_entry(const char* name, const char* summary) {
  return {.name = name,
          .backend = Backend::cpu,
          .summary = summary,
          .supports = per_head_cpu_supports,
          .bind = bind_per_head_cpu};
}

/// The CPU kernels: one row each.
const KernelEntry kCpuEntries[] = {
    {.name = "mla_dense",
     .backend = Backend::cpu,
     .summary = "absorbed MLA decode, paged bf16 cache, fp32 accumulation, split-KV",
     .supports = mla_dense_cpu_supports,
     .bind = bind_mla_dense_cpu},
    {.name = "mla_sparse",
     .backend = Backend::cpu,
     .summary = "absorbed MLA decode over an index list of each query token, bf16 cache, split-KV",
     .supports = mla_sparse_cpu_supports,
     .bind = bind_mla_sparse_cpu},
    per_head_entry("mha_decode", "attention with keys and values of every head, paged, split-KV"),
    per_head_entry("gqa_decode", "attention with keys and values of groups of heads"),
    per_head_entry("mqa_decode", "attention with the keys and values of one head for all"),
    per_head_entry("mla_expanded", "MLA over keys and values kept expanded, decode to prefill"),
    {.name = "kv_expand",
     .backend = Backend::cpu,
     .summary = "latents to keys and values of every head, blocked fp32 products",
     .supports = check_kv_expand_shape,
     .bind = bind_kv_expand_cpu},
    {.name = "dsa_indexer",
     .backend = Backend::cpu,
     .summary = "scores of all tokens by FP8 index keys, and an exact top-k of them",
     .supports = dsa_indexer_cpu_supports,
     .bind = bind_dsa_indexer_cpu},
};

std::vector<KernelEntry> all_entries() {
  std::vector<KernelEntry> entries(std::begin(kCpuEntries), std::end(kCpuEntries));
  const auto cuda = cuda_entries();
  entries.insert(entries.end(), cuda.begin(), cuda.end());
  return entries;
}

}  // namespace

Result<void> check_family(const std::string& kernel, Family wanted, const RankProblem& shape) {
  if (shape.family == wanted) return {};
  return fail(ErrorKind::config, kernel, " takes problems of the family ", enum_name(wanted),
              ", not ", enum_name(shape.family));
}

std::span<const KernelEntry> registry() {
  static const std::vector<KernelEntry> entries = all_entries();
  return entries;
}

Result<const KernelEntry*> find_kernel(const std::string& name, Backend backend) {
  if (name.starts_with(kPluginPrefix)) return find_plugin(name, backend);
  std::string names;
  for (const auto& entry : registry()) {
    if (entry.backend != backend) continue;
    if (entry.name == name) return &entry;
    names += (names.empty() ? "" : ", ") + entry.name;
  }
  if (names.empty()) names = "none in this build";
  return fail(ErrorKind::config, "no ", enum_name(backend), " kernel '", name,
              "'; there are: ", names);
}

}  // namespace headsplit::kernels
