#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace headsplit::kernels::expand {

/// bf16 values that device code moves at once: widths are multiples of it.
constexpr int kVectorValues = 8;

/// Enqueues the making of one matrix of weights, equal to the bit to up_key_weight and
/// up_value_weight of reference.h.  weights: [rows, d_latent] bf16, row r is row first_row + r of
/// all that are stored for the whole problem.
cudaError_t fill_weights(std::uint16_t* weights, std::int64_t rows, std::int64_t first_row,
                         int d_latent, std::uint64_t seed, cudaStream_t stream);

/// Products of some neighbouring pages, laid out as K and V.
struct LayOut {
  const std::uint16_t* products = nullptr;  ///< [pages, page_tokens, heads x (d_nope + d_v)]: the
                                            ///< keys of all heads, then the values of all
  const std::uint16_t* latents = nullptr;   ///< [pages, page_tokens, d_latent + d_rope]
  std::uint16_t* keys = nullptr;            ///< [pages, heads, page_tokens, d_nope + d_rope]
  std::uint16_t* values = nullptr;          ///< [pages, heads, page_tokens, d_v]
  int pages = 0;
  int page_tokens = 0;
  int heads = 0;
  int d_latent = 0;
  int d_rope = 0;
  int d_nope = 0;
  int d_v = 0;
};

/// Enqueues it.
cudaError_t lay_out(const LayOut& arguments, cudaStream_t stream);

}  // namespace headsplit::kernels::expand
