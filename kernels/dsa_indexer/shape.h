#pragma once

#include <cstdint>

/// Shapes of the indexer of DeepSeek sparse attention (docs/dsa-indexer.md).
namespace headsplit::kernels::indexer {

/// An index key: 128 values of e4m3 and their scale, fp32.  Keys of a page follow each other, and
/// the scales of all of them come after the last.
constexpr int kDim = 128;
constexpr int kScaleBytes = 4;
constexpr int kKeyBytes = kDim + kScaleBytes;
constexpr int kHeadsMax = 64;

/// Byte offset of a key, and of a scale, in its page.
constexpr std::int64_t key_at(int slot) { return std::int64_t{slot} * kDim; }
constexpr std::int64_t scale_at(int page_tokens, int slot) {
  return std::int64_t{page_tokens} * kDim + std::int64_t{slot} * kScaleBytes;
}

/// No token: what a list ends with that is longer than the context.
constexpr std::int32_t kNoToken = -1;

}  // namespace headsplit::kernels::indexer
