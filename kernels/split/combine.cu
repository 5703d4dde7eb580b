// out = sum_s w_s out_s,  w_s = exp(lse_s - lse),  lse = log sum_s exp(lse_s)
// for each packed row that was split over the context; partials [slots, tile_rows, width] fp32.
// Bound: latency.  The bytes of the partials are mostly still in L2: a warp merges 128 dimensions
// of one row and asks for all that it needs at once; where there are many partials, eight warps
// share them.

#include "kernels/device/ptx.cuh"
#include "kernels/split/combine.h"
#include "kernels/split/softmax_constants.h"

namespace headsplit::kernels::split {
namespace {

constexpr int kHeld = 4;  ///< partials that a warp has in registers at a time

__device__ float warp_max(float value) {
#pragma unroll
  for (int lanes = 16; lanes > 0; lanes /= 2) {
    value = fmaxf(value, __shfl_xor_sync(0xFFFFFFFF, value, lanes));
  }
  return value;
}

__device__ float warp_sum(float value) {
#pragma unroll
  for (int lanes = 16; lanes > 0; lanes /= 2) value += __shfl_xor_sync(0xFFFFFFFF, value, lanes);
  return value;
}

/// One row's partials: LSEs lse_stride apart, this lane's four dimensions value_stride apart.
struct Partials {
  const float* lses;
  const float* values;
  int count;
  int lse_stride;
  int value_stride;

  __device__ float lse(int s) const { return s < count ? lses[s * lse_stride] : -INFINITY; }
};

__device__ float exp_approx(float x) { return ptx::exp2_approx(x * kLog2e); }

/// Of all partials of a row.
struct RowLse {
  float largest = 0;  ///< 0 where the row attends to nothing
  float sum = 0;      ///< of exp(lse - largest)

  /// first: the LSE of partial `lane`.
  __device__ void of(const Partials& partials, float first, int lane) {
    largest = first;
#pragma unroll 1
    for (int s = lane + 32; s < partials.count; s += 32) largest = fmaxf(largest, partials.lse(s));
    largest = warp_max(largest);
    if (largest == -INFINITY) largest = 0;
    sum = exp_approx(first - largest);
#pragma unroll 1
    for (int s = lane + 32; s < partials.count; s += 32) {
      sum += exp_approx(partials.lse(s) - largest);
    }
    sum = warp_sum(sum);
  }
};

/// Partials begin, begin + step, ..: those past the end are not read and weigh nothing.
struct HeldPartials {
  float lse[kHeld];
  float4 value[kHeld];

  __device__ void load(const Partials& partials, int begin, int step) {
    const float* of_lse = partials.lses + begin * partials.lse_stride;
    const float* of_value = partials.values + std::int64_t{begin} * partials.value_stride;
#pragma unroll
    for (int i = 0; i < kHeld; ++i) {
      const bool real = begin + i * step < partials.count;
      lse[i] = real ? *of_lse : -INFINITY;
      value[i] = real ? __ldcg(reinterpret_cast<const float4*>(of_value)) : float4{0, 0, 0, 0};
      of_lse += step * partials.lse_stride;
      of_value += std::int64_t{step} * partials.value_stride;
    }
  }
  __device__ void add_to(float4& total, float largest) const {
#pragma unroll
    for (int i = 0; i < kHeld; ++i) {
      const float weight = exp_approx(lse[i] - largest);
      total.x += weight * value[i].x;
      total.y += weight * value[i].y;
      total.z += weight * value[i].z;
      total.w += weight * value[i].w;
    }
  }
};

/// What a warp merges: 128 dimensions of one row.  kSplitWarps warps share its partials.
template <int kWarps, int kSplitWarps, bool kSinks>
struct Output {
  const CombineArguments& arguments;
  const MergeItem& merge;
  int row;
  int dim;   ///< of this lane
  int warp;  ///< of the CTA
  int lane;

  __device__ Partials partials() const {
    const std::int64_t first = std::int64_t{merge.slot_begin} * arguments.tile_rows + row;
    return {arguments.partial_lse + first, arguments.partial_output + first * arguments.width + dim,
            merge.slot_count, arguments.tile_rows, arguments.tile_rows * arguments.width};
  }
  /// Of output and LSE.
  __device__ std::int64_t target_row() const {
    const int packed_row = merge.row_begin + row;
    if (arguments.kv_heads == 1) {
      return std::int64_t{merge.request} * arguments.packed_rows + packed_row;
    }
    const int group = arguments.group_heads;
    const int token = merge.request / arguments.kv_heads * (arguments.packed_rows / group) +
                      packed_row / group;  // of all requests
    const int head = merge.request % arguments.kv_heads * group + packed_row % group;
    return std::int64_t{token} * (arguments.kv_heads * group) + head;
  }
  __device__ void store(const float4& total, const RowLse& lse) const {
    const std::int64_t target = target_row();
    float inverse = lse.sum > 0 ? __fdividef(1, lse.sum) : 0;
    if constexpr (kSinks) {
      const float sink = arguments.sinks[merge.row_begin + row];
      if (lse.sum > 0) inverse = 1 / (lse.sum + exp_approx(sink - lse.largest));
    }
    *reinterpret_cast<uint2*>(arguments.output + target * arguments.width + dim) =
        make_uint2(ptx::pack_bf16(total.x * inverse, total.y * inverse),
                   ptx::pack_bf16(total.z * inverse, total.w * inverse));
    if (dim == 0) arguments.lse[target] = lse.sum > 0 ? lse.largest + logf(lse.sum) : -INFINITY;
  }

  /// of_warp: what the warps of an output tell each other.
  __device__ void merge_partials(float4 (*of_warp)[32]) const {
    const Partials from = partials();
    const float first = from.lse(lane);
    RowLse lse;
    float4 total = make_float4(0, 0, 0, 0);
    int begin = 0;
#pragma unroll 1
    do {
      HeldPartials held;
      held.load(from, begin + warp % kSplitWarps, kSplitWarps);
      if (begin == 0) lse.of(from, first, lane);
      held.add_to(total, lse.largest);
      begin += kHeld * kSplitWarps;
    } while (begin < from.count);
    if constexpr (kSplitWarps > 1) {
      of_warp[warp][lane] = total;
      __syncthreads();
      if (warp > 0) return;
#pragma unroll
      for (int other = 1; other < kSplitWarps; ++other) {
        const float4 part = of_warp[other][lane];
        total = make_float4(total.x + part.x, total.y + part.y, total.z + part.z, total.w + part.w);
      }
    }
    store(total, lse);
  }
};

/// kWarps warps a CTA, kSplitWarps of them for each output.
template <int kWarps, int kSplitWarps, bool kSinks>
__global__ void __launch_bounds__(32 * kWarps)
    combine_kernel(const __grid_constant__ CombineArguments arguments) {
  static_assert(kSplitWarps == 1 || kSplitWarps == kWarps, "an output's warps share a barrier");
  __shared__ float4 of_warp[kSplitWarps > 1 ? kWarps : 1][32];
  const MergeItem merge = arguments.merges == nullptr ? arguments.inline_merges[blockIdx.y]
                                                      : arguments.merges[blockIdx.y];
  const int warp = threadIdx.x / 32;
  const int chunks = (arguments.width + kCombineDims - 1) / kCombineDims;
  const int index = blockIdx.x * (kWarps / kSplitWarps) + warp / kSplitWarps;
  const int row = index / chunks;
  if (row >= merge.row_count) return;  // the same for all warps of an output
  const int lane = threadIdx.x % 32;
  // Lanes past the end do what the last one with dimensions does.
  const int dim = min(index % chunks * kCombineDims + lane * 4, arguments.width - 4);
  const Output<kWarps, kSplitWarps, kSinks> output{arguments, merge, row, dim, warp, lane};
  ptx::wait_for_previous_kernel();  // what comes before is of the plan
  output.merge_partials(of_warp);
}

template <bool kSinks>
constexpr CombineKernel kFewAndMany[] = {
    {.threads = 128, .split_warps = 1, .function = combine_kernel<4, 1, kSinks>},
    {.threads = 256, .split_warps = 8, .function = combine_kernel<8, 8, kSinks>}};

}  // namespace

std::span<const CombineKernel> combine_kernels(bool sinks) {
  if (sinks) return kFewAndMany<true>;
  return kFewAndMany<false>;
}

}  // namespace headsplit::kernels::split
