#pragma once

#include <cstdint>

#include "core/json.h"
#include "core/point.h"

namespace headsplit {

/// What a kernel computes: which inputs it has, and which reference judges it.
/// mla_dense: attention over the shared latent (absorbed).  per_head: over K and V of each KV head.
/// kv_expand: latents to K and V of each head.  mla_sparse: mla_dense on a list of tokens that each
/// query token has of its own.  dsa_indexer: scores of all tokens, and the list of the best.
enum class Family { mla_dense, per_head, kv_expand, mla_sparse, dsa_indexer };
BOOST_DESCRIBE_ENUM(Family, mla_dense, per_head, kv_expand, mla_sparse, dsa_indexer)

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
  int top_k = 0;        ///< tokens that a query token attends to at most; 0: all (dense)
  int index_heads = 0;  ///< of the indexer, all of them on every rank; 0: dense
  int index_dim = 0;    ///< values of an index key and of an index head's query; 0: dense
  int index_pool = 1;   ///< tokens that share one index key

  bool is_sparse() const { return family == Family::mla_sparse || family == Family::dsa_indexer; }
  /// Score width of the absorbed form: the latent and the RoPE key side by side.
  int d_qk() const { return d_latent + d_rope; }
  /// Values of one query row; of kv_expand, which has no query, of a row of the latent cache; of
  /// dsa_indexer of one index head.
  int query_width() const {
    if (family == Family::dsa_indexer) return index_dim;
    return family == Family::per_head ? d_nope + d_rope : d_qk();
  }
  /// Values of one output row; of kv_expand the key and the value of a token's head side by side;
  /// of dsa_indexer the scores of a query token's list.
  int output_width() const {
    if (family == Family::mla_dense || family == Family::mla_sparse) return d_latent;
    if (family == Family::dsa_indexer) return top_k;
    return family == Family::per_head ? d_v : d_nope + d_rope + d_v;
  }
  bool operator==(const RankProblem&) const = default;
};
BOOST_DESCRIBE_STRUCT(RankProblem, (),
                      (local_heads, kv_heads, batch, query_tokens, context, d_latent, d_rope,
                       d_nope, d_v, kv_dtype, lengths, family, top_k, index_heads, index_dim,
                       index_pool))

}  // namespace headsplit
