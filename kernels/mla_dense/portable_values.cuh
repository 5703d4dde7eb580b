#pragma once

#include "kernels/mla_dense/portable_softmax.cuh"

/// Weights x values.
namespace headsplit::kernels::dense {

/// output += P x V, for this warp's quarter of the latent dimensions.  Values are read
/// kAhead multiplications before they are needed.
template <TileShape kShape>
template <int kActive>
__device__ __forceinline__ void Consumer<kShape>::multiply_values() {
  constexpr int kDims = kWarpDims / 16;  // blocks of 16 dimensions: one ldmatrix
  constexpr int kSteps = kShape.tokens / 16;
  constexpr int kAhead = 2;
  const std::uint32_t lane_offset = LaneAddress::rows_first(lane).at(0);
  const std::uint32_t values_base =
      memory.stage(ring.stage) + warp * (kWarpDims / kTileRowValues) * kSliceBytes + lane_offset;
  std::uint32_t weights[2][kActive][4];
  std::uint32_t value[kAhead + 1][4];
  const auto load_weights = [&](int step) {
#pragma unroll
    for (int block = 0; block < kActive; ++block) {
      ptx::ldmatrix_x4(weights[step % 2][block], WeightPlace<kShape>::operand(*this, step) +
                                                     WeightPlace<kShape>::block(block));
    }
  };
  const auto load_value = [&](int i) {
    const int dims = i % kDims;
    ptx::ldmatrix_x4_trans(value[i % (kAhead + 1)], (values_base ^ (dims % 4 * 2 * kChunkBytes)) +
                                                        dims / 4 * kSliceBytes +
                                                        i / kDims * kBlockBytes);
  };
  load_weights(0);
#pragma unroll
  for (int i = 0; i < kAhead; ++i) load_value(i);
#pragma unroll
  for (int i = 0; i < kSteps * kDims; ++i) {
    const int step = i / kDims;
    const int dims = i % kDims;
    if (i + kAhead < kSteps * kDims) load_value(i + kAhead);
    if (dims == kDims / 2 && step + 1 < kSteps) load_weights(step + 1);
    const std::uint32_t(&b)[4] = value[i % (kAhead + 1)];
#pragma unroll
    for (int block = 0; block < kActive; ++block) {
      ptx::mma_m16n8k16(output[block][2 * dims], weights[step % 2][block], b[0], b[1]);
      ptx::mma_m16n8k16(output[block][2 * dims + 1], weights[step % 2][block], b[2], b[3]);
    }
  }
}

}  // namespace headsplit::kernels::dense
