#pragma once

#include "core/gang.h"
#include "core/layout.h"
#include "kernels/problem.h"

namespace headsplit::tp {

/// What one rank of a layout executes of a whole problem: its heads, its requests and its pages of
/// the cache, with the whole problem's values in them.  Causal masks go by positions in the whole:
/// a query token attends to the rank's tokens that lie before its own position.  A rank may get no
/// page of a request; its partial output is then 0 and its log-sum-exp -infinity.
/// whole: not itself a shard; tp divides its heads and dp is at most its batch.
kernels::Problem rank_shard(const kernels::Problem& whole, const Layout& layout, int rank,
                            PageOrder order);

}  // namespace headsplit::tp
