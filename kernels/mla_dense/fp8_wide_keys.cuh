#pragma once

#include "kernels/mla_dense/fp8_wide_queries.cuh"
#include "kernels/mla_dense/fp8_wide_scores_group.cuh"

/// Start of an item, and products of queries with keys.
namespace headsplit::kernels::dense::wide {

template <class Rows, int kRows>
__device__ __forceinline__ void ScoresGroup<Rows, kRows>::begin(const WorkItem& next) {
  item = next;
  const int* const ends = arguments.ends + item.request * arguments.query_tokens;
  mask_begin = min(item.token_end, ends[0]);
  barrier();  // what the last item had in shared memory has been read
#pragma unroll 1
  for (int row = 0; row < kRows; row += kQueryRows) {
    wait(memory.full(ring.stage), ring.parity);
    convert_queries(memory, memory.stage(ring.stage), row, item.row_count, warp * 32 + lane);
    for (int group = 0; group < kValuesGroups; ++group) {
      ptx::mbarrier_arrive(memory.used(ring.stage));
    }
    ring.advance(memory.kStages);
  }
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

/// A scale of each of this thread's tokens, of 128 x (lane % 4) dimensions on, as f16, lifted,
/// if they have any.
template <class Rows, int kRows>
__device__ __forceinline__ std::uint32_t ScoresGroup<Rows, kRows>::load_scales() const {
  if constexpr (Row::kOneScale) {
    return 0;
  } else {
    const std::uint32_t at =
        memory.stage(ring.stage) + first_token() * Row::kBytes + Row::kScalesAt + lane % 4 * 4;
    const float first = __uint_as_float(ptx::load_shared(at));
    const float second = __uint_as_float(ptx::load_shared(at + 8 * Row::kBytes));
    return ptx::pack_f16(first * kLift, second * kLift);
  }
}

/// Operands of four products from 16 values of each of two tokens, times scales if they have any.
template <class Row>
__device__ __forceinline__ void dequantise(std::uint32_t (&operand)[4][4],
                                           const std::uint32_t (&first)[4],
                                           const std::uint32_t (&second)[4],
                                           std::uint32_t first_scale, std::uint32_t second_scale) {
#pragma unroll
  for (int p = 0; p < 4; ++p) {
    ptx::e4m3_to_f16(operand[p][0], operand[p][2], first[p]);
    ptx::e4m3_to_f16(operand[p][1], operand[p][3], second[p]);
    if constexpr (Row::kOneScale) continue;
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
  const auto load = [&](std::uint32_t(&values)[2][4], int number) {
    const std::uint32_t at = Row::chunk(memory.stage(ring.stage), first_token(), number + lane % 4);
    ptx::load_shared(values[0], at);
    ptx::load_shared(values[1], at + Row::kEightTokens);
  };
  const std::uint64_t queries = wgmma::k_major<wgmma::Swizzle::bytes_128>(memory.query());
  std::uint32_t operand[2][4][4];
  std::uint32_t first_scale = 0;
  std::uint32_t second_scale = 0;
#pragma unroll
  for (int slice = 0; slice < kSlices; ++slice) {
    auto& made = operand[slice % 2];
    const bool in_e4m3 = Row::kOneScale || slice < kLatentSlices;
    if (in_e4m3) {
      if (!Row::kOneScale && slice % 2 == 0) {
        const std::uint32_t both = __shfl_sync(0xFFFFFFFF, scales, lane / 4 * 4 + slice / 2);
        first_scale = __byte_perm(both, 0, kLow);
        second_scale = __byte_perm(both, 0, kHigh);
      }
      std::uint32_t values[2][4];
      load(values, 4 * slice);
      dequantise<Row>(made, values[0], values[1], first_scale, second_scale);
    } else {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        std::uint32_t values[2][4];
        load(values, Row::kRopeAt / kChunkBytes + 4 * half);
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
      if (in_e4m3) {
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
