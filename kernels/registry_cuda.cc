#include "kernels/registry_cuda.h"

#include "kernels/mla_dense/mla_dense_cuda.h"

namespace headsplit::kernels {
namespace {

/// The CUDA kernels: one row each.
const KernelEntry kCudaEntries[] = {
    {.name = "mla_dense",
     .backend = Backend::cuda,
     .summary =
         "absorbed MLA decode, paged bf16 cache, split-KV; wgmma on Hopper, mma.sync from sm_80 on",
     .supports = mla_dense_cuda_supports,
     .bind = bind_mla_dense_cuda},
};

}  // namespace

std::span<const KernelEntry> cuda_entries() { return kCudaEntries; }

}  // namespace headsplit::kernels
