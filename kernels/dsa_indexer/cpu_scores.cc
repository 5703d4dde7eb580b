#include "kernels/dsa_indexer/cpu_scores.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "kernels/dsa_indexer/shape.h"
#include "kernels/e4m3.h"

// Vectors without a fixed size cannot be kept in arrays.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/dsa_indexer/cpu_scores.cc"
#include "hwy/foreach_target.h"  // comes first: it includes this file once for each target

#include "hwy/contrib/math/math-inl.h"
#include "hwy/highway.h"

// In order of use: each builds on those before it.
#include "kernels/cpu/vectors.inl"

#include "kernels/cpu/panel.inl"

HWY_BEFORE_NAMESPACE();
namespace headsplit::kernels::indexer::HWY_NAMESPACE {

using namespace headsplit::kernels::HWY_NAMESPACE;  // vectors.inl and panel.inl
namespace hn = hwy::HWY_NAMESPACE;

/// Heads of one panel, and slots multiplied with it at once.
constexpr int kPanelHeads = kPanelVectors * kLanes;
constexpr int kSlots = kLeftRows<kPanelVectors>;

using Table = std::array<float, 256>;

inline Table e4m3_table() {
  Table table{};
  for (int bits = 0; bits < 256; ++bits) {
    table[static_cast<std::size_t>(bits)] = e4m3_value(static_cast<std::uint8_t>(bits));
  }
  return table;
}

HWY_INLINE int padded_heads(int heads) { return static_cast<int>(round_up(heads, kPanelHeads)); }

void pack_queries_target(const ScoreQueries& queries, ScoreWorkspace& work) {
  const Table table = e4m3_table();
  const int padded = padded_heads(queries.heads);
  for (int token = 0; token < queries.query_tokens; ++token) {
    float* const weights = work.weights.get() + std::int64_t{token} * padded;
    float* const packed = work.queries.get() + std::int64_t{token} * padded * kDim;
    for (int head = 0; head < padded; ++head) {
      const bool real = head < queries.heads;
      const std::int64_t from = std::int64_t{token} * queries.heads + head;
      weights[head] = real ? queries.weights[from] : 0;
      float* const panel = packed + std::int64_t{head / kPanelHeads} * kDim * kPanelHeads;
      for (int d = 0; d < kDim; ++d) {
        panel[d * kPanelHeads + head % kPanelHeads] =
            real ? table[queries.query[from * kDim + d]] : 0;
      }
    }
  }
}

/// Adds weight x relu(product) of one panel of heads to the sums of kSlots slots.
HWY_INLINE void add_panel(const float* keys, const float* panel, const float* weights,
                          Float (&sums)[kSlots]) {
  const Floats floats;
  Float c[kSlots][kPanelVectors];
#pragma GCC unroll 16
  for (int row = 0; row < kSlots; ++row) {
#pragma GCC unroll 4
    for (int v = 0; v < kPanelVectors; ++v) c[row][v] = hn::Zero(floats);
  }
  multiply<kSlots, kPanelVectors>(keys, {kDim, 1}, panel, kDim, c);
#pragma GCC unroll 16
  for (int row = 0; row < kSlots; ++row) {
#pragma GCC unroll 4
    for (int v = 0; v < kPanelVectors; ++v) {
      const Float relu = hn::Max(c[row][v], hn::Zero(floats));
      sums[row] = hn::MulAdd(relu, hn::Load(floats, weights + v * kLanes), sums[row]);
    }
  }
}

void score_page_target(const ScoreQueries& queries, const ScorePage& page, float* scores,
                       std::int64_t stride, ScoreWorkspace& work) {
  const Table table = e4m3_table();
  for (int i = 0; i < page.slots * kDim; ++i) work.keys.get()[i] = table[page.keys[i]];
  const int padded = padded_heads(queries.heads);
  for (int token = 0; token < queries.query_tokens; ++token) {
    const float* const weights = work.weights.get() + std::int64_t{token} * padded;
    const float* const packed = work.queries.get() + std::int64_t{token} * padded * kDim;
    for (int slot = 0; slot < page.slots; slot += kSlots) {
      Float sums[kSlots];
#pragma GCC unroll 16
      for (int row = 0; row < kSlots; ++row) sums[row] = hn::Zero(Floats());
      for (int head = 0; head < padded; head += kPanelHeads) {
        add_panel(work.keys.get() + std::int64_t{slot} * kDim, packed + std::int64_t{head} * kDim,
                  weights + head, sums);
      }
      HWY_ALIGN float found[kSlots];
#pragma GCC unroll 16
      for (int row = 0; row < kSlots; ++row)
        found[row] = hn::GetLane(hn::SumOfLanes(Floats(), sums[row]));
      for (int row = 0; row < std::min(kSlots, page.slots - slot); ++row) {
        scores[token * stride + slot + row] = found[row] * page.scales[slot + row];
      }
    }
  }
}

const char* score_instructions_target() { return hwy::TargetName(HWY_TARGET); }

}  // namespace headsplit::kernels::indexer::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headsplit::kernels::indexer {

HWY_EXPORT(pack_queries_target);
HWY_EXPORT(score_page_target);
HWY_EXPORT(score_instructions_target);

namespace {

/// Floats in the widest panel, and slots past a page that a block may touch.
constexpr std::int64_t kWidestPanel = 32;
constexpr std::int64_t kTallestBlock = 16;

}  // namespace

ScoreWorkspace::ScoreWorkspace(int heads, int query_tokens, int page_tokens)
    : keys(zeros((page_tokens + kTallestBlock) * kDim)),
      queries(zeros(query_tokens * round_up(heads, kWidestPanel) * kDim)),
      weights(zeros(query_tokens * round_up(heads, kWidestPanel))) {}

void pack_queries(const ScoreQueries& queries, ScoreWorkspace& workspace) {
  HWY_DYNAMIC_DISPATCH(pack_queries_target)(queries, workspace);
}

void score_page(const ScoreQueries& queries, const ScorePage& page, float* scores,
                std::int64_t stride, ScoreWorkspace& workspace) {
  HWY_DYNAMIC_DISPATCH(score_page_target)(queries, page, scores, stride, workspace);
}

const char* score_instructions() { return HWY_DYNAMIC_DISPATCH(score_instructions_target)(); }

}  // namespace headsplit::kernels::indexer
#endif
