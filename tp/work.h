#pragma once

#include "core/json.h"
#include "core/rank_problem.h"

namespace headsplit::tp {

/// What one rank must do and move at least, in one layer.  FLOPs count a multiply and an add as
/// two; each byte is counted once, as a kernel that fuses everything would move it.
struct Work {
  double flops = 0;            ///< useful tensor operations, those of fp8_flops included
  double fp8_flops = 0;        ///< the part of them that runs on FP8 operands
  double kv_bytes = 0;         ///< history read: cache rows, expanded K and V, index keys
  double qo_bytes = 0;         ///< queries read and outputs written
  double weight_bytes = 0;     ///< weights read
  double dequant_values = 0;   ///< cached FP8 values turned into BF16 before they are multiplied
  double kv_memory_bytes = 0;  ///< cache this rank keeps for the layer

  double hbm_bytes() const { return kv_bytes + qo_bytes + weight_bytes; }
  /// FLOP a byte; 0 when nothing moves.
  double intensity() const { return hbm_bytes() > 0 ? flops / hbm_bytes() : 0; }
  bool operator==(const Work&) const = default;
};
BOOST_DESCRIBE_STRUCT(Work, (),
                      (flops, fp8_flops, kv_bytes, qo_bytes, weight_bytes, dequant_values,
                       kv_memory_bytes))

Work operator+(const Work& left, const Work& right);

constexpr double kBf16Bytes = 2;

/// Bytes of one cached latent: 2 x (d_latent + d_rope) in BF16 (1152 for DeepSeek-V3); in FP8
/// d_latent bytes, an fp32 scale for every 128 of them and the RoPE part in BF16 (656);
/// in FP8 with one scale d_latent + d_rope (576).
double latent_row_bytes(const RankProblem& problem);

/// Summed KV lengths of the rank's requests: batch x context, or what the ragged draw expects (the
/// first request full, the last of more than two empty, the others uniform between).
double length_sum(const RankProblem& problem);

}  // namespace headsplit::tp
