#pragma once

#include <cstdint>
#include <string>

#include "core/rank_problem.h"

namespace headsplit::coordinator {

/// Bytes that one rank needs on its device for a problem of a latent kernel: the paged cache with
/// its spare pages, query, fp32 output and LSE, and the fp32 partials of a split context.
/// The same sum as kernels::memory_bytes, which cannot be linked here; a test in tests/coordinator
/// holds the two together.
std::int64_t rank_memory_bytes(const RankProblem& problem);

/// "12.3 GB": decimal units, three digits.
std::string bytes_text(std::int64_t bytes);

}  // namespace headsplit::coordinator
