#pragma once

#include "tp/model.h"
#include "tp/work.h"

namespace headsplit::tp {

/// Closed forms of arithmetic intensity in FLOP a byte, for checks and for people.  Each cancels
/// the batch; the limits cancel the context too.

/// Per-head attention, single-token decode: H / G x 2 / bytes a value (MHA 1, MQA H in BF16).
double per_head_intensity(int heads, int kv_heads, double value_bytes = kBf16Bytes);

/// MLA once the context is long: 2 H T (D + d_latent) / c.  With d_rope 0 and BF16 it is 2 H T,
/// with DeepSeek-V3's widths 1.889 H T.
double mla_intensity_limit(const RankProblem& problem);

/// MLA at its context, queries and outputs counted:
///   2 H T (D + d_latent) L / (L c + 2 H T (D + d_latent))
double mla_intensity(const RankProblem& problem);

/// Cached tokens whose bytes equal one request's query and output: 2 H T (D + d_latent) / c.
/// About 242 for DeepSeek-V3 at T = 1: below a few hundred tokens the limit does not hold.
double fixed_traffic_tokens(const RankProblem& problem);

/// Prompt length at which prefill of per-head attention reaches the ridge:
///   L = ridge x value_bytes / per_head_intensity
double prefill_length_to_reach(double ridge_flop_per_byte, int heads, int kv_heads);

/// Rows heads x query tokens at which MLA turns from memory-bound to compute-bound:
///   ridge c / (2 (D + d_latent))
double rows_to_reach(double ridge_flop_per_byte, const RankProblem& problem);

/// Query tokens a request may have before its attention leaves the memory-bound side: drafts up
/// to there are nearly free.  rows_to_reach / H; below 1 even one token is past the ridge.
double free_query_tokens(double ridge_flop_per_byte, const RankProblem& problem);

}  // namespace headsplit::tp
