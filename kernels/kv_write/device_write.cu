// bf16 latents and RoPE keys into rows of the FP8 cache (fp8_row.h):
//   scale = amax of 128 values / 448,  stored = e4m3(value x (1 / scale))
// or with one scale that is given, RoPE keys too.
// A warp takes a token; a lane 16 of its latents, and eight lanes have one scale.
// Bound: bytes, 1,152 read and 656 (576) written a token.  Measurements: docs/kv-write.md.

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

/// Values that follow each other, as fp32.
template <int kCount>
__device__ __forceinline__ void load_values(float (&values)[kCount], const std::uint16_t* source) {
  static_assert(kCount % 8 == 0);
  const auto* const vectors = reinterpret_cast<const uint4*>(source);
#pragma unroll
  for (int eight = 0; eight < kCount / 8; ++eight) {
    const uint4 found = __ldcs(vectors + eight);
    const std::uint32_t words[4] = {found.x, found.y, found.z, found.w};
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      values[8 * eight + 2 * i] = __uint_as_float(words[i] << 16);
      values[8 * eight + 2 * i + 1] = __uint_as_float(words[i] & 0xFFFF0000);
    }
  }
}

/// e4m3 of the values x `inverse`.
template <int kCount>
__device__ __forceinline__ void quantise(std::uint32_t (&words)[kCount / 4],
                                         const float (&values)[kCount], float inverse) {
#pragma unroll
  for (int i = 0; i < kCount / 4; ++i) {
    words[i] = pack_e4m3({values[4 * i] * inverse, values[4 * i + 1] * inverse,
                          values[4 * i + 2] * inverse, values[4 * i + 3] * inverse});
  }
}

template <int kCount>
__device__ __forceinline__ int beyond(const float (&values)[kCount], float inverse) {
  int count = 0;
#pragma unroll
  for (const float value : values) count += fabsf(value * inverse) > kE4m3Largest ? 1 : 0;
  return count;
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
    load_values(values, tokens.latents + token * kLatent + lane * kLaneValues);
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
    quantise(words, values, inverse);
    std::uint8_t* const row = cache + std::int64_t{slot} * kRowBytes;
    reinterpret_cast<uint4*>(row)[lane] = make_uint4(words[0], words[1], words[2], words[3]);
    if (lane % kTileLanes == 0) {
      reinterpret_cast<float*>(row + kScalesAt)[lane / kTileLanes] = scale;
    }
    if (has_rope) reinterpret_cast<uint4*>(row + kRopeAt)[lane] = rope;
  }
}

/// The same with one scale.
__global__ void __launch_bounds__(kThreads)
    tensor_write_kernel(const __grid_constant__ Tokens tokens, float inverse, std::uint8_t* cache,
                        unsigned long long* saturated) {
  const int lane = threadIdx.x % 32;
  const std::int64_t warps = std::int64_t{gridDim.x} * kWarps;
  int count = 0;
  for (std::int64_t token = std::int64_t{blockIdx.x} * kWarps + threadIdx.x / 32;
       token < tokens.count; token += warps) {
    const std::int32_t slot = __ldg(tokens.slots + token);
    if (slot < 0) continue;
    std::uint8_t* const row = cache + std::int64_t{slot} * kTensorRowBytes;
    float values[kLaneValues];
    std::uint32_t words[kLaneValues / 4];
    load_values(values, tokens.latents + token * kLatent + lane * kLaneValues);
    count += beyond(values, inverse);
    quantise(words, values, inverse);
    reinterpret_cast<uint4*>(row)[lane] = make_uint4(words[0], words[1], words[2], words[3]);
    if (lane >= kRope / 8) continue;
    float rope[8];
    std::uint32_t of_rope[2];
    load_values(rope, tokens.rope + token * kRope + 8 * lane);
    count += beyond(rope, inverse);
    quantise(of_rope, rope, inverse);
    reinterpret_cast<uint2*>(row + kLatent)[lane] = make_uint2(of_rope[0], of_rope[1]);
  }
  count = __reduce_add_sync(kAllLanes, count);
  if (lane == 0 && count > 0) atomicAdd(saturated, static_cast<unsigned long long>(count));
}

unsigned blocks_of(const Tokens& tokens) {
  constexpr std::int64_t kBlocksMax = 1 << 16;
  return static_cast<unsigned>(std::min((tokens.count + kWarps - 1) / kWarps, kBlocksMax));
}

}  // namespace

cudaError_t enqueue_write(const Tokens& tokens, ScaleRule rule, std::uint8_t* cache,
                          cudaStream_t stream) {
  if (tokens.count == 0) return cudaSuccess;
  write_kernel<<<blocks_of(tokens), kThreads, 0, stream>>>(tokens, rule, cache);
  return cudaGetLastError();
}

cudaError_t enqueue_tensor_write(const Tokens& tokens, float scale, std::uint8_t* cache,
                                 unsigned long long* saturated, cudaStream_t stream) {
  if (tokens.count == 0) return cudaSuccess;
  tensor_write_kernel<<<blocks_of(tokens), kThreads, 0, stream>>>(tokens, 1 / scale, cache,
                                                                  saturated);
  return cudaGetLastError();
}

}  // namespace headsplit::kernels::kv_write
