#pragma once

#include "kernels/bf16.h"
#include "kernels/random_value.h"

namespace headsplit::kernels {

/// Weight element `index` as stored: bf16 of about 1 / sqrt(d_latent), so that keys and values are
/// of the size of latents.  index: into W_UK [H, d_nope, d_latent] followed by W_UV [H, d_v,
/// d_latent], H those of the whole problem.  scale: 1 / sqrt(d_latent) in fp32.
HEADSPLIT_HOST_DEVICE inline float stored_weight(std::uint64_t seed, std::int64_t index,
                                                 float scale) {
  return round_to_bf16(random_value(seed, Tensor::weight, static_cast<std::uint64_t>(index)) *
                       scale);
}

}  // namespace headsplit::kernels
