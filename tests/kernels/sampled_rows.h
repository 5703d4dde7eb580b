#pragma once

#include <algorithm>
#include <cstdint>

namespace headsplit::kernels {

/// Output rows of a problem with so many tokens, or none, that are compared with the fp64
/// reference, which may go over 24,000 tokens: more would take seconds.
inline std::int64_t sampled_rows(std::int64_t tokens) {
  constexpr std::int64_t kReferenceTokens = 24'000;
  return std::max<std::int64_t>(4, kReferenceTokens / std::max<std::int64_t>(1, tokens));
}

}  // namespace headsplit::kernels
