#pragma once

#include <span>
#include <vector>

#include "core/row.h"

namespace headsplit::coordinator {

/// Kernels that the comparison of absorbed and expanded MLA is made of.  Absorbed: on the latent
/// cache.  Kept: on K and V that stay expanded.  Anew: K and V expanded in each step.
constexpr const char* kAbsorbedKernel = "mla_dense";
constexpr const char* kKeptKernel = "mla_expanded";
constexpr const char* kExpandKernel = "kv_expand";
constexpr const char* kAnewKernel = "mla_reexpanded";

/// Rows of `mla_reexpanded` for problems that were measured with kv_expand and with mla_expanded
/// but not with a kernel that does both: one launch after the other, so times, FLOPs and bytes are
/// added.  Expanding does not depend on the query tokens, so the median of its rows serves all
/// numbers of them.  Such a row carries the point id of its mla_expanded row, and neither samples
/// nor counters.  Only ok rows of one GPU and build that are equal in all else are added.
std::vector<Row> reexpanded_rows(std::span<const Row> rows);

}  // namespace headsplit::coordinator
