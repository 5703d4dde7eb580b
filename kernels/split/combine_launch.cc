#include <algorithm>

#include "kernels/device/cuda_try.h"
#include "kernels/split/combine.h"
#include "kernels/split/gpu_limits.h"

namespace headsplit::kernels::split {
namespace {

/// Partials of one row above which several warps share them.
constexpr int kManyPartials = 8;

}  // namespace

void carry_merges(CombineArguments& arguments, std::span<const MergeItem> merges) {
  if (merges.size() > std::size_t{kInlineMerges}) return;
  std::copy(merges.begin(), merges.end(), arguments.inline_merges);
  arguments.merges = nullptr;
}

Result<void> launch_combine(const CombineArguments& arguments, const CombineLaunch& how) {
  const CombineKernel& kernel =
      combine_kernels(arguments.sinks != nullptr)[how.num_splits > kManyPartials ? 1 : 0];
  const int chunks = (arguments.width + kCombineDims - 1) / kCombineDims;
  const int outputs = arguments.tile_rows * chunks;
  cudaLaunchAttribute overlap{};
  overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  overlap.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t launch{};
  launch.gridDim = dim3(static_cast<unsigned>((outputs + kernel.outputs() - 1) / kernel.outputs()),
                        static_cast<unsigned>(arguments.merge_count));
  launch.blockDim = dim3(static_cast<unsigned>(kernel.threads));
  launch.stream = how.stream;
  launch.attrs = &overlap;
  launch.numAttrs = how.overlaps ? 1 : 0;
  CombineArguments own = arguments;
  void* passed[] = {&own};
  CUDA_TRY(cudaLaunchKernelExC(&launch, entry_point(kernel.function), passed));
  return {};
}

}  // namespace headsplit::kernels::split
