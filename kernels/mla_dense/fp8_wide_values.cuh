#pragma once

#include "kernels/device/wgmma_registers.cuh"
#include "kernels/mla_dense/fp8_transposed.cuh"
#include "kernels/mla_dense/fp8_wide_rows.cuh"

/// A warpgroup that multiplies values with weights: 256 of the latent dimensions, all rows.
namespace headsplit::kernels::dense::wide {

/// Blocks of 64 dimensions are the rows of the products; a warp has 16 dimensions of each, a thread
/// outputs as in fp8_transposed.cuh.
template <class Rows, int kRows>
struct ValuesGroup {
  using Arguments = typename Rows::Arguments;
  using Row = typename Rows::Row;
  static constexpr int kBlocks = kValuesDims / 64;
  static constexpr int kOutputs = kRows / 2;
  /// A unit is 16 tokens of two blocks, which have one scale.  While the products of one run, the
  /// operands of the next are made.
  static constexpr int kUnits = kTokens / 16 * (kBlocks / 2);
  static constexpr int kDepth = 2;

  const Arguments& arguments;
  SharedMemory<kRows, Row> memory;
  split::CtaItems<Arguments> items;
  int half_of_dims;  ///< 0 or 1
  int warp;
  int lane;

  WorkItem item;
  float output[kBlocks][kOutputs];
  RingPosition ring{};     ///< of the tile's rows
  RingPosition weights{};  ///< of its weights

  __device__ void convert(std::uint32_t (&operand)[2][4], int unit, std::uint32_t rows,
                          std::uint32_t scales) const;
  __device__ void rescale();
  __device__ void tile(bool first);
  template <bool kZeros>
  __device__ void store() const;
  __device__ void run();
};

/// Rows of matrices: tokens 0-7, 8-15 of 16 dimensions, then of those 64 further.
/// ldmatrix transposes pairs of bytes: a register has two tokens' values of two dimensions, and
/// after a permutation of its bytes those of an even dimension in its low half, of an odd one in
/// its high half.
template <class Rows, int kRows>
__device__ __forceinline__ void ValuesGroup<Rows, kRows>::convert(std::uint32_t (&operand)[2][4],
                                                                  int unit, std::uint32_t rows,
                                                                  std::uint32_t scales) const {
  constexpr std::uint32_t kByDimension = 0x3120;
  const int step = unit / 2;
  const int of_dims = unit % 2;
  std::uint32_t pairs[4];
  ptx::ldmatrix_x4_trans(
      pairs, Row::chunk(rows + 2 * step * Row::kEightTokens, lane % 16,
                        (half_of_dims * kValuesDims + of_dims * kScaleWidth) / kChunkBytes +
                            lane / 16 * 4 + warp));
  std::uint32_t scale[2] = {};
  if constexpr (!Row::kOneScale) {
    const std::uint32_t at = scales + of_dims * kTokens * 2 + step * 32;
    scale[0] = ptx::load_shared(at);
    scale[1] = ptx::load_shared(at + 16);
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    std::uint32_t(&made)[4] = operand[i / 2];
    const int k = i % 2;
    ptx::e4m3_to_f16(made[2 * k], made[2 * k + 1], __byte_perm(pairs[i], 0, kByDimension));
    if constexpr (Row::kOneScale) continue;
    made[2 * k] = ptx::multiply_f16x2(made[2 * k], scale[k]);
    made[2 * k + 1] = ptx::multiply_f16x2(made[2 * k + 1], scale[k]);
  }
}

template <class Rows, int kRows>
__device__ __forceinline__ void ValuesGroup<Rows, kRows>::rescale() {
#pragma unroll
  for (int j = 0; j < kRows / 8; ++j) {
    fp8::rescale_rows(output, j, memory.rescale(weights.stage, 8 * j + lane % 4 * 2));
  }
}

template <class Rows, int kRows>
__device__ __forceinline__ void ValuesGroup<Rows, kRows>::tile(bool first) {
  wait(memory.weighed(weights.stage), weights.parity);
  wait(memory.full(ring.stage), ring.parity);
  if (ptx::load_shared(memory.rescale_flag(weights.stage)) != 0) rescale();
  const std::uint32_t rows = memory.stage(ring.stage);
  const std::uint32_t scales = memory.scales(weights.stage, 2 * half_of_dims) + lane % 4 * 4;
  const std::uint64_t b = wgmma::n_major(memory.weights(weights.stage), 0);
  std::uint32_t operand[kDepth][2][4];
#pragma unroll
  for (int unit = 0; unit < kUnits; ++unit) {
    auto& made = operand[unit % kDepth];
    convert(made, unit, rows, scales);
    if (unit + 1 == kUnits) ptx::mbarrier_arrive(memory.used(ring.stage));
    wgmma::fence();
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      wgmma::product(output[unit % 2 * 2 + i], made[i], b + unit / 2 * (16 * kTileRowBytes / 16),
                     !first || unit >= 2, wgmma::F16{}, wgmma::NMajor{});
    }
    wgmma::commit();
    if (unit + 1 < kUnits) wgmma::wait<kDepth - 1>();
  }
  wgmma::wait<0>();
#pragma unroll
  for (int block = 0; block < kBlocks; ++block) wgmma::written(output[block]);
  ring.advance(memory.kStages);
}

/// The output, or what it is without any token: zeros.
template <class Rows, int kRows>
template <bool kZeros>
__device__ __forceinline__ void ValuesGroup<Rows, kRows>::store() const {
  const int first_dim = half_of_dims * kValuesDims + warp * 16 + lane / 4 * 2;
  fp8::store_outputs<kZeros>(arguments, item, output, first_dim, lane,
                             [this](int row) { return memory.inverse(weights.stage, row); });
}

template <class Rows, int kRows>
__device__ __forceinline__ void ValuesGroup<Rows, kRows>::run() {
#pragma unroll 1
  for (int i = items.begin; i < items.end; ++i) {
    item = items.get(i);
    if (item.token_begin >= item.token_end) {
      store<true>();
      continue;
    }
    for (int queries = 0; queries < memory.kQueryStages; ++queries) ring.advance(memory.kStages);
#pragma unroll 1
    for (int token = item.token_begin; token < item.token_end; token += kTokens) {
      tile(token == item.token_begin);
      if (token + kTokens >= item.token_end) store<false>();
      ptx::mbarrier_arrive(memory.spent(weights.stage));
      weights.advance(memory.kWeightStages);
    }
  }
}

}  // namespace headsplit::kernels::dense::wide
