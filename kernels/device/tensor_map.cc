#include "kernels/device/tensor_map.h"

#include "kernels/device/cuda_try.h"

namespace headsplit::kernels {
namespace {

using Encode = decltype(&cuTensorMapEncodeTiled);

/// libcuda is not linked: the runtime finds its function.
Result<Encode> encode_function() {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found{};
  CUDA_TRY(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000,
                                            cudaEnableDefault, &found));
  if (found != cudaDriverEntryPointSuccess) {
    return fail(ErrorKind::cuda, "the driver has no cuTensorMapEncodeTiled");
  }
  return reinterpret_cast<Encode>(function);
}

}  // namespace

Result<CUtensorMap> make_tensor_map(const TensorMapRequest& request) {
  const Encode encode = TRY(encode_function());
  std::array<cuuint64_t, 4> sizes = {};
  std::array<cuuint64_t, 3> strides = {};  // bytes; the innermost has none
  std::array<cuuint32_t, 4> box = {};
  const std::array<cuuint32_t, 4> steps = {1, 1, 1, 1};
  cuuint64_t bytes = 2;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    sizes[i] = static_cast<cuuint64_t>(request.sizes[i]);
    box[i] = static_cast<cuuint32_t>(request.box[i]);
    bytes *= sizes[i];
    if (i < strides.size()) strides[i] = bytes;
  }
  CUtensorMap map{};
  const CUresult status =
      encode(&map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 4, const_cast<void*>(request.base),
             sizes.data(), strides.data(), box.data(), steps.data(), CU_TENSOR_MAP_INTERLEAVE_NONE,
             CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
             CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (status == CUDA_SUCCESS) return map;
  return fail(ErrorKind::cuda, "cuTensorMapEncodeTiled refuses a tensor of ", sizes[0], " x ",
              sizes[1], " x ", sizes[2], " x ", sizes[3], " in boxes of ", box[0], " x ", box[1],
              " x ", box[2], " x ", box[3], ": ", static_cast<int>(status));
}

}  // namespace headsplit::kernels
