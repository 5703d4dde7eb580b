#pragma once

#include "kernels/device/ring.cuh"
#include "kernels/device/wgmma.cuh"
#include "kernels/mla_dense/cta_items.cuh"
#include "kernels/mla_dense/fp8_mma_totals.cuh"
#include "kernels/mla_dense/fp8_transposed.cuh"

/// A warpgroup that multiplies values with weights: 256 of the latent dimensions, all rows.
namespace headsplit::kernels::dense::mma {

/// Blocks of 64 dimensions are the rows of the products; a warp has 16 dimensions of each, a thread
/// outputs as in fp8_transposed.cuh.
struct ValuesGroup {
  static constexpr int kSteps = kTokens / 32;  ///< products of a block
  static constexpr int kProducts = kBlocks * kSteps;
  static constexpr int kAhead = 4;  ///< operands that are made ahead

  const SplitArguments& arguments;
  SharedMemory memory;
  CtaItems items;
  int half_of_dims;  ///< 0 or 1
  int warp;
  int lane;

  float output[kBlocks][kOutputs];
  RingPosition ring{};     ///< of the tile
  RingPosition weights{};  ///< of its weights

  /// Operands of a product.  ldmatrix transposes pairs of bytes: a register has two dimensions of
  /// two tokens, and two registers make four tokens of each of the two.
  __device__ __forceinline__ void load(std::uint32_t (&operand)[4], int product,
                                       std::uint32_t values) const {
    constexpr std::uint32_t kEven = 0x6420;
    constexpr std::uint32_t kOdd = 0x7531;
    const int block = product / kSteps;
    const std::uint32_t chunk = static_cast<std::uint32_t>(block % 2 * 4 + warp);
    std::uint32_t pairs[4];
    ptx::ldmatrix_x4_trans(
        pairs, values + block / 2 * kSliceBytes + product % kSteps * 32 * kTileRowBytes +
                   ((chunk ^ std::uint32_t(lane % kTileRowChunks)) * kChunkBytes));
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      operand[2 * half] = __byte_perm(pairs[2 * half], pairs[2 * half + 1], kEven);
      operand[2 * half + 1] = __byte_perm(pairs[2 * half], pairs[2 * half + 1], kOdd);
    }
  }

  __device__ __forceinline__ Totals totals() const {
    return Totals::of_this_thread(arguments.scratch, half_of_dims, warp * 32 + lane);
  }

  /// Adds the output so far to that in device memory.
  __device__ __forceinline__ void promote(bool first) const {
    totals().add(output, memory, weights.stage, lane, first);
    if (!first || half_of_dims > 0 || warp > 0) return;
#pragma unroll
    for (int row = lane; row < kRows; row += 32) {
      ptx::store_shared(memory.first_offset(row),
                        ptx::load_shared(memory.inverse(weights.stage, row)));
    }
  }

  __device__ __forceinline__ void rescale() {
    std::uint32_t flags[kGroupWarps];
    ptx::load_shared(flags, memory.rescale_flag(weights.stage, 0));
    if ((flags[0] | flags[1] | flags[2] | flags[3]) == 0) return;
#pragma unroll
    for (int j = 0; j < kRows / 8; ++j) {
      if (flags[j / 2] == 0) continue;
      fp8::rescale_rows(output, j, memory.rescale(weights.stage, 8 * j + lane % 4 * 2));
    }
  }

  __device__ __forceinline__ std::uint32_t values_of(int stage) const {
    return memory.stage(stage) + 2 * half_of_dims * kSliceBytes +
           std::uint32_t(lane) * kTileRowBytes;
  }

  /// Operands are made some products ahead, so that these do not wait for them; the first ones
  /// before the weights are there.
  __device__ __forceinline__ void tile(bool first) {
    const std::uint32_t values = values_of(ring.stage);
    const auto b = wgmma::k_major<wgmma::Swizzle::bytes_64>(memory.weights(weights.stage));
    std::uint32_t operand[kAhead][4];
    wait(memory.full(ring.stage), ring.parity);
#pragma unroll
    for (int i = 0; i < kAhead; ++i) load(operand[i], i, values);
    wait(memory.weighed(weights.stage), weights.parity);
    rescale();
#pragma unroll
    for (int i = 0; i < kProducts; ++i) {
      if (i >= kAhead) {
        wgmma::wait<kAhead - 1>();
        load(operand[i % kAhead], i, values);
      }
      wgmma::fence();
      wgmma::e4m3_product(output[i / kSteps], operand[i % kAhead], b + 2 * (i % kSteps),
                          !first || i % kSteps > 0);
      wgmma::commit();
    }
    wgmma::wait<0>();
#pragma unroll
    for (int block = 0; block < kBlocks; ++block) wgmma::written(output[block]);
    ring.advance(SharedMemory::kStages);
  }

  /// The output, or what it is without any token: zeros.
  template <bool kZeros>
  __device__ __forceinline__ void store(const WorkItem& item) const {
    const int first_dim = half_of_dims * kValuesDims + warp * 16 + lane / 4 * 2;
    fp8::store_outputs<kZeros>(arguments, item, output, first_dim, lane,
                               [this](int row) { return memory.inverse(weights.stage, row); });
  }

  __device__ __forceinline__ int tiles_of(int i) const {
    const WorkItem item = items.get(i);
    return (item.token_end - item.token_begin + kTokens - 1) / kTokens;
  }

  __device__ __forceinline__ void run() {
#pragma unroll 1
    for (int i = items.begin; i < items.end; ++i) {
      const int tiles = tiles_of(i);
      if (tiles <= 0) store<true>(items.get(i));
#pragma unroll 1
      for (int done = 0; done < tiles; ++done) {
        const bool promoted = done >= kTilesASum;
        tile(done % kTilesASum == 0);
        // The item is looked up again: registers are short while tiles are multiplied.
        if (done + 1 == tiles) {
          if (promoted) totals().add_to(output, memory, lane);
          store<false>(items.get(i));
        } else if ((done + 1) % kTilesASum == 0) {
          promote(!promoted);
        }
        ptx::mbarrier_arrive(memory.spent(weights.stage));
        weights.advance(SharedMemory::kWeightStages);
      }
    }
  }
};

}  // namespace headsplit::kernels::dense::mma
