#pragma once

#include "kernels/mla_dense/fp8_wide_scores_group.cuh"

/// Queries into shared memory, and their products with keys.
namespace headsplit::kernels::dense::wide {

/// Two bf16 values, in f16, or times the lift.
__device__ __forceinline__ std::uint32_t bf16_to_f16(std::uint32_t pair) {
  return ptx::pack_f16(__uint_as_float(pair << 16), __uint_as_float(pair & 0xFFFF0000u));
}
__device__ __forceinline__ std::uint32_t lifted_bf16(std::uint32_t pair) {
  return ptx::pack_bf16(__uint_as_float(pair << 16) * kLift,
                        __uint_as_float(pair & 0xFFFF0000u) * kLift);
}

/// Slices of 64 dimensions, in the order in which a lane of a quad meets keys: of product p it has
/// the four dimensions 16 x lane + 4 x p .. of a latent slice, whose pairs are its k 2 x lane ..
/// and 8 + 2 x lane ..; of RoPE 32 x (p / 2) + 8 x lane + 4 x (p % 2) ...
template <class Rows, int kRows>
__device__ __forceinline__ void ScoresGroup<Rows, kRows>::load_queries() const {
#pragma unroll 1
  for (int task = warp * 32 + lane; task < kSlices * kRows; task += kGroupThreads) {
    const int row = task % kRows;
    const int slice = task / kRows;
    const bool real = row < item.row_count;
    const auto* source = reinterpret_cast<const uint4*>(
        arguments.query + (real ? query_row(row) : 0) * kQk + slice * kTileRowValues);
    std::uint32_t pairs[kTileRowValues / 2];
#pragma unroll
    for (int i = 0; i < kTileRowChunks; ++i) {
      const uint4 read = real ? __ldg(source + i) : make_uint4(0, 0, 0, 0);
      pairs[4 * i] = read.x;
      pairs[4 * i + 1] = read.y;
      pairs[4 * i + 2] = read.z;
      pairs[4 * i + 3] = read.w;
    }
#pragma unroll
    for (int chunk = 0; chunk < kTileRowChunks; ++chunk) {
      const int product = chunk / 2;
      std::uint32_t words[4];
#pragma unroll
      for (int quad = 0; quad < 4; ++quad) {
        words[quad] =
            slice < kLatentSlices
                ? bf16_to_f16(pairs[8 * quad + chunk])
                : lifted_bf16(pairs[16 * (product / 2) + 4 * quad + 2 * (product % 2) + chunk % 2]);
      }
      ptx::store_shared(memory.query() + slice * memory.kQuerySliceBytes + swizzled(row, chunk),
                        {__uint_as_float(words[0]), __uint_as_float(words[1]),
                         __uint_as_float(words[2]), __uint_as_float(words[3])});
    }
  }
}

template <class Rows, int kRows>
__device__ __forceinline__ void ScoresGroup<Rows, kRows>::begin(const WorkItem& next) {
  item = next;
  const int* const ends = arguments.ends + item.request * arguments.query_tokens;
  mask_begin = min(item.token_end, ends[0]);
  barrier();  // what the last item had in shared memory has been read
  load_queries();
  const int row = warp * 32 + lane;
  if (row < kRows) {
    const int token = (item.row_begin + row) / arguments.local_heads;
    ptx::store_shared(memory.offset(row), __float_as_uint(kNoReference));
    ptx::store_shared(memory.attended(row),
                      static_cast<std::uint32_t>(
                          min(item.token_end, ends[min(token, arguments.query_tokens - 1)])));
  }
#pragma unroll
  for (int i = 0; i < kColumns; ++i) sum[i] = 0;
  ptx::fence_async_proxy();
  barrier();
}

/// A scale of each of this thread's tokens, of 128 x (lane % 4) dimensions on, as f16, lifted.
template <class Rows, int kRows>
__device__ __forceinline__ std::uint32_t ScoresGroup<Rows, kRows>::load_scales() const {
  const std::uint32_t at =
      memory.stage(ring.stage) + first_token() * kRowBytes + kScalesAt + lane % 4 * 4;
  const float first = __uint_as_float(ptx::load_shared(at));
  const float second = __uint_as_float(ptx::load_shared(at + 8 * kRowBytes));
  return ptx::pack_f16(first * kLift, second * kLift);
}

/// Operands of four products from 16 values of each of two tokens.
__device__ __forceinline__ void dequantise(std::uint32_t (&operand)[4][4],
                                           const std::uint32_t (&first)[4],
                                           const std::uint32_t (&second)[4],
                                           std::uint32_t first_scale, std::uint32_t second_scale) {
#pragma unroll
  for (int p = 0; p < 4; ++p) {
    ptx::e4m3_to_f16(operand[p][0], operand[p][2], first[p]);
    ptx::e4m3_to_f16(operand[p][1], operand[p][3], second[p]);
    operand[p][0] = ptx::multiply_f16x2(operand[p][0], first_scale);
    operand[p][1] = ptx::multiply_f16x2(operand[p][1], second_scale);
    operand[p][2] = ptx::multiply_f16x2(operand[p][2], first_scale);
    operand[p][3] = ptx::multiply_f16x2(operand[p][3], second_scale);
  }
}

/// Scores of the tile, lifted.  While the products of a slice run, the next one is made.
template <class Rows, int kRows>
__device__ __forceinline__ void ScoresGroup<Rows, kRows>::multiply(float (&scores)[kScores],
                                                                   std::uint32_t scales) const {
  constexpr std::uint32_t kLow = 0x1010;
  constexpr std::uint32_t kHigh = 0x3232;
  const std::uint32_t first = memory.stage(ring.stage) + first_token() * kRowBytes + lane % 4 * 16;
  const std::uint32_t second = first + 8 * kRowBytes;
  const std::uint64_t queries = wgmma::k_major<wgmma::Swizzle::bytes_128>(memory.query());
  std::uint32_t operand[2][4][4];
  std::uint32_t first_scale = 0;
  std::uint32_t second_scale = 0;
#pragma unroll
  for (int slice = 0; slice < kSlices; ++slice) {
    auto& made = operand[slice % 2];
    if (slice < kLatentSlices) {
      if (slice % 2 == 0) {
        const std::uint32_t both = __shfl_sync(0xFFFFFFFF, scales, lane / 4 * 4 + slice / 2);
        first_scale = __byte_perm(both, 0, kLow);
        second_scale = __byte_perm(both, 0, kHigh);
      }
      std::uint32_t values[2][4];
      ptx::load_shared(values[0], first + slice * kTileRowValues);
      ptx::load_shared(values[1], second + slice * kTileRowValues);
      dequantise(made, values[0], values[1], first_scale, second_scale);
    } else {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        std::uint32_t values[2][4];
        ptx::load_shared(values[0], first + kRopeAt + half * 64);
        ptx::load_shared(values[1], second + kRopeAt + half * 64);
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          made[2 * half + i / 2][2 * (i % 2)] = values[0][i];
          made[2 * half + i / 2][2 * (i % 2) + 1] = values[1][i];
        }
      }
    }
    wgmma::fence();
#pragma unroll
    for (int p = 0; p < 4; ++p) {
      const std::uint64_t b = queries + slice * (memory.kQuerySliceBytes / 16) + p * 2;
      if (slice < kLatentSlices) {
        wgmma::product(scores, made[p], b, slice + p > 0, wgmma::F16{}, wgmma::KMajor{});
      } else {
        wgmma::product(scores, made[p], b, true, wgmma::Bf16{}, wgmma::KMajor{});
      }
    }
    wgmma::commit();
    wgmma::wait<1>();
  }
}

}  // namespace headsplit::kernels::dense::wide
