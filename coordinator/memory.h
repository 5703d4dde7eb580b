#pragma once

#include <cstdint>
#include <string>

#include "core/rank_problem.h"

namespace headsplit::coordinator {

/// Bytes that one rank needs on its device for a problem: memory_bytes (core/rank_memory.h), and
/// the fp32 partials of every request where the sweep fixes its splits.
std::int64_t rank_memory_bytes(const RankProblem& problem, int fixed_splits = 0);

/// "12.3 GB": decimal units, three digits.
std::string bytes_text(std::int64_t bytes);

}  // namespace headsplit::coordinator
