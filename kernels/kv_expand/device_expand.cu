#include <algorithm>
#include <cmath>

#include "kernels/bf16.h"
#include "kernels/kv_expand/device_expand.h"
#include "kernels/kv_expand/stored_values.h"

namespace headsplit::kernels::expand {
namespace {

constexpr int kThreads = 256;
constexpr int kBlocksMax = 4096;

__global__ void fill_weights_kernel(std::uint16_t* weights, std::int64_t count,
                                    std::int64_t first_index, std::uint64_t seed, float scale) {
  const std::int64_t stride = std::int64_t{gridDim.x} * kThreads;
  for (std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x; i < count; i += stride) {
    weights[i] = bf16_bits(stored_weight(seed, first_index + i, scale));
  }
}

/// Rows of `vectors` vectors each, one after the other at the target.
template <class Source>
__device__ void write_rows(uint4* target, int rows, int vectors, const Source& source) {
  for (int i = threadIdx.x; i < rows * vectors; i += kThreads) {
    // What is written is not read again by this launch: it should not push products out of L2.
    __stcs(target + i, *source(i / vectors, i % vectors));
  }
}

/// A block takes one head of one page: what it writes is one piece of K and one of V.
__global__ void lay_out_kernel(LayOut a) {
  const int head = static_cast<int>(blockIdx.x) % a.heads;
  const std::int64_t page = blockIdx.x / a.heads;
  const std::int64_t first_slot = page * a.page_tokens;
  const auto vectors = [](const std::uint16_t* values, std::int64_t index) {
    return reinterpret_cast<const uint4*>(values) + index / kVectorValues;
  };
  const std::int64_t product_width = std::int64_t{a.heads} * (a.d_nope + a.d_v);
  const std::int64_t latent_width = a.d_latent + a.d_rope;
  const int key_vectors = (a.d_nope + a.d_rope) / kVectorValues;
  const int nope_vectors = a.d_nope / kVectorValues;
  const std::int64_t block = page * a.heads + head;

  auto* const keys = reinterpret_cast<uint4*>(a.keys) + block * a.page_tokens * key_vectors;
  write_rows(keys, a.page_tokens, key_vectors, [&](int slot, int vector) {
    const std::int64_t row = first_slot + slot;
    if (vector < nope_vectors) {
      return vectors(a.products, row * product_width + head * a.d_nope) + vector;
    }
    return vectors(a.latents, row * latent_width + a.d_latent) + (vector - nope_vectors);
  });
  const int value_vectors = a.d_v / kVectorValues;
  auto* const values = reinterpret_cast<uint4*>(a.values) + block * a.page_tokens * value_vectors;
  write_rows(values, a.page_tokens, value_vectors, [&](int slot, int vector) {
    const std::int64_t column = a.heads * a.d_nope + head * a.d_v;
    return vectors(a.products, (first_slot + slot) * product_width + column) + vector;
  });
}

}  // namespace

cudaError_t fill_weights(std::uint16_t* weights, std::int64_t rows, std::int64_t first_row,
                         int d_latent, std::uint64_t seed, cudaStream_t stream) {
  const std::int64_t count = rows * d_latent;
  const float scale = 1 / std::sqrt(static_cast<float>(d_latent));
  const auto blocks = std::min<std::int64_t>((count + kThreads - 1) / kThreads, kBlocksMax);
  fill_weights_kernel<<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(
      weights, count, first_row * d_latent, seed, scale);
  return cudaGetLastError();
}

cudaError_t lay_out(const LayOut& arguments, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>(arguments.pages * arguments.heads);
  lay_out_kernel<<<blocks, kThreads, 0, stream>>>(arguments);
  return cudaGetLastError();
}

}  // namespace headsplit::kernels::expand
