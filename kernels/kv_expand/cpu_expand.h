#pragma once

#include <cstdint>

#include "kernels/cpu/aligned.h"

namespace headsplit::kernels {

/// One matrix of a head and where its products go: out[slot x out_stride + dim] = sum_i
/// weights[dim, i] x latent[slot, i], fp32 sums rounded to bf16.
struct ExpandMatrix {
  const std::uint16_t* weights = nullptr;  ///< bf16 [dims, d_latent]
  int dims = 0;
};

/// Fp32 copies that one worker keeps between tasks.
struct ExpandWorkspace {
  ExpandWorkspace(int d_latent, int dims_max, int page_tokens);

  std::int64_t latent_stride;     ///< floats from one slot to the next
  AlignedArray<float> latents;    ///< [page_tokens, latent_stride]
  AlignedArray<float> weights;    ///< panels [d_latent, panel width] of one matrix
  AlignedArray<float> transpose;  ///< a few rows of weights, widened
};

/// Widens and packs a matrix, for the products that follow.
void pack_weights(const ExpandMatrix& matrix, int d_latent, ExpandWorkspace& workspace);

/// Latents of one page: bf16 rows row_stride values apart.
struct ExpandPage {
  const std::uint16_t* latents = nullptr;
  std::int64_t row_stride = 0;
  int slots = 0;  ///< those in use
};

/// Where the rows of one page go.
struct ExpandOutput {
  std::uint16_t* rows = nullptr;
  std::int64_t row_stride = 0;
};

/// Products of one page with the matrix that was packed.
void expand_page(const ExpandMatrix& matrix, int d_latent, const ExpandPage& page,
                 const ExpandOutput& output, ExpandWorkspace& workspace);

/// How wide the panels are and what they run on, on this machine.
struct ExpandShape {
  int slots_at_once = 0;
  int dims_at_once = 0;
  const char* instructions = "";
};
ExpandShape expand_shape();

}  // namespace headsplit::kernels
