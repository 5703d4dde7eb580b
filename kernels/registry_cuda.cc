#include "kernels/registry_cuda.h"

#include "kernels/dsa_indexer/dsa_indexer_cuda.h"
#include "kernels/kv_expand/kv_expand_cuda.h"
#include "kernels/mla_dense/mla_dense_cuda.h"
#include "kernels/mla_sparse/mla_sparse_cuda.h"
#include "kernels/per_head/per_head_cuda.h"

namespace headsplit::kernels {
namespace {

/// One implementation under the names of the attention structures that it computes.
KernelEntry per_head(const char* name, const char* structure) {
  return {.name = name,
          .backend = Backend::cuda,
          .summary = str(structure,
                         ", paged bf16 keys and values, split-KV; wgmma on Hopper for many "
                         "rows, mma.sync from sm_80 on"),
          .supports = per_head_cuda_supports,
          .bind = bind_per_head_cuda};
}

/// The CUDA kernels: one row each.
const KernelEntry kCudaEntries[] = {
    {.name = "mla_dense",
     .backend = Backend::cuda,
     .summary = "absorbed MLA decode, paged bf16 or FP8 cache, split-KV; wgmma on Hopper, mma.sync "
                "from sm_80 on",
     .supports = mla_dense_cuda_supports,
     .bind = bind_mla_dense_cuda},
    {.name = "mla_dense_fp8_mma",
     .backend = Backend::cuda,
     .summary = "mla_dense with products in FP8: queries and softmax weights rounded to e4m3, "
                "fp8_tensor cache; Hopper",
     .supports = mla_dense_fp8_mma_supports,
     .bind = bind_mla_dense_fp8_mma},
    {.name = "mla_sparse",
     .backend = Backend::cuda,
     .summary = "absorbed MLA decode over an index list of each query token, bf16 or FP8 cache",
     .supports = mla_sparse_cuda_supports,
     .bind = bind_mla_sparse_cuda},
    per_head("mha_decode", "multi-head attention"),
    per_head("gqa_decode", "grouped-query attention"),
    per_head("mqa_decode", "multi-query attention"),
    per_head("mla_expanded", "MLA with expanded keys and values of each head"),
    {.name = "kv_expand",
     .backend = Backend::cuda,
     .summary = "latents to keys and values of every head through cuBLASLt",
     .supports = kv_expand_cuda_supports,
     .bind = bind_kv_expand_cuda},
    {.name = "dsa_indexer",
     .backend = Backend::cuda,
     .summary = "scores of all tokens by FP8 index keys, and an exact top-k of them; wgmma on "
                "Hopper, mma.sync from sm_80 on",
     .supports = dsa_indexer_cuda_supports,
     .bind = bind_dsa_indexer_cuda},
};

}  // namespace

std::span<const KernelEntry> cuda_entries() { return kCudaEntries; }

}  // namespace headsplit::kernels
