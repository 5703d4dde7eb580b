// A few query rows against a group of tokens, with vectors along the token, straight from its bf16.
// Query and output keep the order in which bf16 pairs come apart: of each 2 x kLanes values first
// those at even places.

HWY_BEFORE_NAMESPACE();
namespace headsplit::kernels::HWY_NAMESPACE {

/// Tokens of one group: 32 of DeepSeek-V3 are 36 KiB.
constexpr int kGroupTokens = 32;
static_assert(kGroupTokens % kLanes == 0);
/// bf16 values that one load brings.
constexpr int kPairs = 2 * kLanes;
/// Most rows whose sums fit in registers together, and the sums there is room for.
constexpr int kMostRows = kManyRegisters ? 8 : 4;
constexpr int kSums = 2 * kMostRows;
/// Tokens scored, and pairs of output vectors summed, at once for so many rows.
constexpr int tokens_at_once(int rows) { return rows * 4 <= kSums ? 4 : rows * 2 <= kSums ? 2 : 1; }
constexpr int pairs_at_once(int rows) { return rows * 4 <= kSums ? 2 : 1; }
static_assert(kGroupTokens % 4 == 0);

/// Where the keys or the values of a group of tokens lie, and those of the next one.
struct TokenGroup {
  const std::uint16_t* now[kGroupTokens];
  const std::uint16_t* next[kGroupTokens];
};

/// Keys of the next group are fetched while this one is scored, values while its output is summed:
/// reads that came all at once would leave the memory idle in between.  Where the values are part
/// of the keys, the first half of the tokens is fetched early.
struct Fetches {
  int early_tokens = 0;  ///< those whose keys are fetched with the scores
  int late_dim = 0;      ///< from here on, the keys of all are
  int late_tokens = 0;   ///< from here on, values are fetched with the sums
};
HWY_INLINE Fetches fetches_of(bool shared, int value_width) {
  if (shared) return {kGroupTokens / 2, value_width, kGroupTokens / 2};
  return {kGroupTokens, 0, 0};
}

/// Towards the second-level cache.
HWY_INLINE void fetch(const std::uint16_t* line) { __builtin_prefetch(line, 0, 2); }

/// scores [kRows, kGroupTokens] = query [kRows, width] . keys
template <int kRows>
HWY_INLINE void score_group(const TokenGroup& group, const float* HWY_RESTRICT query, int width,
                            const Fetches& fetches, float* HWY_RESTRICT scores) {
  const Floats floats;
  constexpr int kTokensAtOnce = tokens_at_once(kRows);
  for (int first = 0; first < kGroupTokens; first += kTokensAtOnce) {
    Float sums[kTokensAtOnce][kRows];
#pragma GCC unroll 4
    for (int t = 0; t < kTokensAtOnce; ++t) {
#pragma GCC unroll 8
      for (int row = 0; row < kRows; ++row) sums[t][row] = hn::Zero(floats);
    }
    for (int d = 0; d < width; d += kPairs) {
#pragma GCC unroll 4
      for (int t = 0; t < kTokensAtOnce; ++t) {
        const EvenOdd key = load_bf16_pairs(group.now[first + t] + d);
        if (first < fetches.early_tokens || d >= fetches.late_dim) fetch(group.next[first + t] + d);
#pragma GCC unroll 8
        for (int row = 0; row < kRows; ++row) {
          const float* q = query + std::int64_t{row} * width + d;
          sums[t][row] = hn::MulAdd(key.even, hn::Load(floats, q), sums[t][row]);
          sums[t][row] = hn::MulAdd(key.odd, hn::Load(floats, q + kLanes), sums[t][row]);
        }
      }
    }
#pragma GCC unroll 4
    for (int t = 0; t < kTokensAtOnce; ++t) {
#pragma GCC unroll 8
      for (int row = 0; row < kRows; ++row) {
        scores[row * kGroupTokens + first + t] = hn::GetLane(hn::SumOfLanes(floats, sums[t][row]));
      }
    }
  }
}

/// output [kRows, kWidth] = output x rescale + weights [kRows, kGroupTokens] x values, for the
/// kWidth = kPairsAtOnce x kPairs values from `d` on.
template <int kRows, int kPairsAtOnce>
HWY_INLINE void accumulate_columns(const TokenGroup& group, const float* HWY_RESTRICT weights,
                                   const float* HWY_RESTRICT rescale, int d, int width,
                                   const Fetches& fetches, float* HWY_RESTRICT output) {
  const Floats floats;
  constexpr int kVectors = 2 * kPairsAtOnce;
  Float sums[kRows][kVectors];
#pragma GCC unroll 8
  for (int row = 0; row < kRows; ++row) {
    const Float factor = hn::Set(floats, rescale[row]);
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      const float* out = output + std::int64_t{row} * width + d + v * kLanes;
      sums[row][v] = hn::Mul(hn::Load(floats, out), factor);
    }
  }
  for (int token = 0; token < kGroupTokens; ++token) {
    EvenOdd value[kPairsAtOnce];
#pragma GCC unroll 2
    for (int i = 0; i < kPairsAtOnce; ++i) {
      value[i] = load_bf16_pairs(group.now[token] + d + i * kPairs);
      if (token >= fetches.late_tokens) fetch(group.next[token] + d + i * kPairs);
    }
#pragma GCC unroll 8
    for (int row = 0; row < kRows; ++row) {
      const Float weight = hn::Set(floats, weights[row * kGroupTokens + token]);
#pragma GCC unroll 2
      for (int i = 0; i < kPairsAtOnce; ++i) {
        sums[row][2 * i] = hn::MulAdd(weight, value[i].even, sums[row][2 * i]);
        sums[row][2 * i + 1] = hn::MulAdd(weight, value[i].odd, sums[row][2 * i + 1]);
      }
    }
  }
#pragma GCC unroll 8
  for (int row = 0; row < kRows; ++row) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      hn::Store(sums[row][v], floats, output + std::int64_t{row} * width + d + v * kLanes);
    }
  }
}

template <int kRows>
HWY_INLINE void accumulate_group(const TokenGroup& group, const float* weights,
                                 const float* rescale, int width, const Fetches& fetches,
                                 float* output) {
  constexpr int kPairsAtOnce = pairs_at_once(kRows);
  int d = 0;
  for (; d + kPairsAtOnce * kPairs <= width; d += kPairsAtOnce * kPairs) {
    accumulate_columns<kRows, kPairsAtOnce>(group, weights, rescale, d, width, fetches, output);
  }
  if (d < width) accumulate_columns<kRows, 1>(group, weights, rescale, d, width, fetches, output);
}

/// Scores of one row become weights; returns what its sums up to here must be multiplied with.
/// tokens: how many of the group the row attends to.
HWY_INLINE float softmax_group(float* scores, int tokens, float& largest, float& sum) {
  const Floats floats;
  std::fill(scores + std::clamp(tokens, 0, kGroupTokens), scores + kGroupTokens, kNothing);
  Float after = hn::Set(floats, largest);
  for (int t = 0; t < kGroupTokens; t += kLanes)
    after = hn::Max(after, hn::Load(floats, scores + t));
  after = hn::MaxOfLanes(floats, after);
  Float total = hn::Zero(floats);
  for (int t = 0; t < kGroupTokens; t += kLanes) {
    const Float weight = exp_below(hn::Load(floats, scores + t), after);
    hn::Store(weight, floats, scores + t);
    total = hn::Add(total, weight);
  }
  const float rescale = hn::GetLane(exp_below(hn::Set(floats, largest), after));
  largest = hn::GetLane(after);
  sum = sum * rescale + hn::GetLane(hn::SumOfLanes(floats, total));
  return rescale;
}

}  // namespace headsplit::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
