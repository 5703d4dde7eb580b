#pragma once

#include <cstdint>

#include "core/json.h"
#include "core/point.h"

namespace headsplit {

/// What a kernel computes: which inputs it has, and which reference judges it.
/// mla_dense: attention over the shared latent (absorbed).  per_head: over K and V of each KV head.
/// kv_expand: latents to K and V of each head.
enum class Family { mla_dense, per_head, kv_expand };
BOOST_DESCRIBE_ENUM(Family, mla_dense, per_head, kv_expand)

/// What one rank executes of a point under its layout: the attention core of one layer.
/// All sizes are this rank's own (batch / dp, heads / tp, context / cp, rounded up for rank 0).
struct RankProblem {
  int local_heads = 1;
  int kv_heads = 1;  ///< per-head K/V kernels only; MLA's latent is one KV head
  int batch = 1;
  int query_tokens = 1;
  std::int64_t context = 1;
  int d_latent = 512;  ///< kv_lora_rank: width of the latent, and of the absorbed output
  int d_rope = 64;     ///< shared RoPE key; a cache row is d_latent + d_rope values
  int d_nope = 128;    ///< per-head query/key width without RoPE, before absorption
  int d_v = 128;       ///< per-head value width after W_UV
  KvDtype kv_dtype = KvDtype::bf16;
  Lengths lengths = Lengths::equal;
  Family family = Family::mla_dense;

  /// Score width of the absorbed form: the latent and the RoPE key side by side.
  int d_qk() const { return d_latent + d_rope; }
  /// Values of one query row; of kv_expand, which has no query, of a row of the latent cache.
  int query_width() const { return family == Family::per_head ? d_nope + d_rope : d_qk(); }
  /// Values of one output row; of kv_expand the key and the value of a token's head side by side.
  int output_width() const {
    if (family == Family::mla_dense) return d_latent;
    return family == Family::per_head ? d_v : d_nope + d_rope + d_v;
  }
  bool operator==(const RankProblem&) const = default;
};
BOOST_DESCRIBE_STRUCT(RankProblem, (),
                      (local_heads, kv_heads, batch, query_tokens, context, d_latent, d_rope,
                       d_nope, d_v, kv_dtype, lengths, family))

}  // namespace headsplit
