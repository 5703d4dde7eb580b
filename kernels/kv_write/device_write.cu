// bf16 latents and RoPE keys into rows of the FP8 cache (fp8_row.h):
//   scale = amax of 128 values / 448,  stored = e4m3(value x (1 / scale))
// A warp takes a token; a lane 16 of its latents, and eight lanes have one scale.
// Bound: bytes, 1,152 read and 656 written a token.  Measurements: docs/mla-dense-fp8.md.

#include <algorithm>

#include "kernels/bf16.h"
#include "kernels/device/ptx.cuh"
#include "kernels/kv_write/device_write.h"

namespace headsplit::kernels::kv_write {
namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
constexpr int kLaneValues = kLatent / 32;
constexpr int kTileLanes = kFp8ScaleTile / kLaneValues;
constexpr unsigned kAllLanes = 0xFFFFFFFF;

/// Four values as e4m3.
__device__ __forceinline__ std::uint32_t pack_e4m3(const float (&values)[4]) {
#if __CUDA_ARCH__ >= 890
  return ptx::pack_e4m3(values[0], values[1]) | ptx::pack_e4m3(values[2], values[3]) << 16;
#else
  std::uint32_t word = 0;
#pragma unroll
  for (int i = 0; i < 4; ++i) word |= std::uint32_t{e4m3_bits(values[i])} << (8 * i);
  return word;
#endif
}

/// This lane's latents as fp32.
__device__ __forceinline__ void load_latents(float (&values)[kLaneValues],
                                             const std::uint16_t* source) {
  const auto* const vectors = reinterpret_cast<const uint4*>(source);
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const uint4 found = __ldcs(vectors + half);
    const std::uint32_t words[4] = {found.x, found.y, found.z, found.w};
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      values[8 * half + 2 * i] = __uint_as_float(words[i] << 16);
      values[8 * half + 2 * i + 1] = __uint_as_float(words[i] & 0xFFFF0000);
    }
  }
}

__global__ void __launch_bounds__(kThreads)
    write_kernel(const __grid_constant__ Tokens tokens, ScaleRule rule, std::uint8_t* cache) {
  const int lane = threadIdx.x % 32;
  const std::int64_t warps = std::int64_t{gridDim.x} * kWarps;
  for (std::int64_t token = std::int64_t{blockIdx.x} * kWarps + threadIdx.x / 32;
       token < tokens.count; token += warps) {
    const std::int32_t slot = __ldg(tokens.slots + token);
    if (slot < 0) continue;
    float values[kLaneValues];
    load_latents(values, tokens.latents + token * kLatent + lane * kLaneValues);
    uint4 rope{};
    const bool has_rope = lane < kRope / 8;
    if (has_rope) rope = __ldcs(reinterpret_cast<const uint4*>(tokens.rope + token * kRope) + lane);
    float largest = 0;
#pragma unroll
    for (const float value : values) largest = fmaxf(largest, fabsf(value));
#pragma unroll
    for (int step = 1; step < kTileLanes; step *= 2) {
      largest = fmaxf(largest, __shfl_xor_sync(kAllLanes, largest, step));
    }
    const float scale = tile_scale(largest, rule);
    const float inverse = 1 / scale;
    std::uint32_t words[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      words[i] = pack_e4m3({values[4 * i] * inverse, values[4 * i + 1] * inverse,
                            values[4 * i + 2] * inverse, values[4 * i + 3] * inverse});
    }
    std::uint8_t* const row = cache + std::int64_t{slot} * kRowBytes;
    reinterpret_cast<uint4*>(row)[lane] = make_uint4(words[0], words[1], words[2], words[3]);
    if (lane % kTileLanes == 0) {
      reinterpret_cast<float*>(row + kScalesAt)[lane / kTileLanes] = scale;
    }
    if (has_rope) reinterpret_cast<uint4*>(row + kRopeAt)[lane] = rope;
  }
}

}  // namespace

cudaError_t enqueue_write(const Tokens& tokens, ScaleRule rule, std::uint8_t* cache,
                          cudaStream_t stream) {
  if (tokens.count == 0) return cudaSuccess;
  constexpr std::int64_t kBlocksMax = 1 << 16;
  const std::int64_t blocks = std::min((tokens.count + kWarps - 1) / kWarps, kBlocksMax);
  write_kernel<<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(tokens, rule, cache);
  return cudaGetLastError();
}

}  // namespace headsplit::kernels::kv_write
