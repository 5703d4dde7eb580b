// One panel of query rows against one tile of tokens, with vectors along the rows.

HWY_BEFORE_NAMESPACE();
namespace headsplit::kernels::HWY_NAMESPACE {

constexpr int kPanelVectors = 2;
/// Left rows whose kVectors sums each fit in registers together: 24 of 32, or 12 of 16.
template <int kVectors>
constexpr int kLeftRows = kManyRegisters || kVectors == 1 ? 12 : 6;

/// Strides of the left factor, in floats.
struct Strides {
  std::int64_t row = 0;
  std::int64_t step = 0;
};

/// c [kRows, kVectors] += a [kRows, depth] x b [depth, kVectors], all of c in registers.
template <int kRows, int kVectors>
HWY_INLINE void multiply(const float* HWY_RESTRICT a, Strides stride, const float* HWY_RESTRICT b,
                         int depth, Float (&c)[kRows][kVectors]) {
  const Floats floats;
  for (int step = 0; step < depth; ++step) {
    Float right[kVectors];
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) right[v] = hn::Load(floats, b + v * kLanes);
#pragma GCC unroll 16
    for (int row = 0; row < kRows; ++row) {
      const Float left = hn::Set(floats, a[row * stride.row]);
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) c[row][v] = hn::MulAdd(left, right[v], c[row][v]);
    }
    a += stride.step;
    b += kVectors * kLanes;
  }
}

/// One panel of query rows against one tile.
template <int kVectors>
struct Panel {
  static constexpr int kWidth = kVectors * kLanes;

  const float* query;  ///< [key width, kWidth]
  float* output;       ///< [value width rounded up to kLeftRows, kWidth]
  float* scores;       ///< [tokens rounded up to kLeftRows, kWidth]
  float* largest;      ///< [kWidth]
  float* sum;          ///< [kWidth]
  const float* end;    ///< [kWidth]

  /// Tokens past the last one, up to a multiple of kLeftRows, get scores that are never read.
  HWY_INLINE void score(const float* keys, std::int64_t key_stride, int tokens,
                        int key_width) const {
    constexpr int kRows = kLeftRows<kVectors>;
    for (int token = 0; token < tokens; token += kRows) {
      Float c[kRows][kVectors];
#pragma GCC unroll 16
      for (int row = 0; row < kRows; ++row) {
#pragma GCC unroll 4
        for (int v = 0; v < kVectors; ++v) c[row][v] = hn::Zero(Floats());
      }
      multiply<kRows, kVectors>(keys + std::int64_t{token} * key_stride, {key_stride, 1}, query,
                                key_width, c);
      float* out = scores + token * kWidth;
#pragma GCC unroll 16
      for (int row = 0; row < kRows; ++row) {
#pragma GCC unroll 4
        for (int v = 0; v < kVectors; ++v) {
          hn::Store(c[row][v], Floats(), out + row * kWidth + v * kLanes);
        }
      }
    }
  }

  /// Rows end at different tokens when there are several query tokens (causal).
  HWY_INLINE void mask(int first_token, int tokens) const {
    const Floats floats;
    const Float nothing = hn::Set(floats, kNothing);
    for (int token = 0; token < tokens; ++token) {
      const Float place = hn::Set(floats, static_cast<float>(first_token + token));
      for (int lane = 0; lane < kWidth; lane += kLanes) {
        float* score = scores + token * kWidth + lane;
        const auto hidden = hn::Ge(place, hn::Load(floats, end + lane));
        hn::Store(hn::IfThenElse(hidden, nothing, hn::Load(floats, score)), floats, score);
      }
    }
  }

  /// Scores become weights relative to the new largest score; `rescale` is what sums up to here
  /// must be multiplied with.
  HWY_INLINE void softmax(int tokens, Float (&rescale)[kVectors]) const {
    const Floats floats;
    for (int v = 0; v < kVectors; ++v) {
      float* score = scores + v * kLanes;
      const Float before = hn::Load(floats, largest + v * kLanes);
      Float after = before;
      for (int t = 0; t < tokens; ++t) after = hn::Max(after, hn::Load(floats, score + t * kWidth));
      Float total = hn::Zero(floats);
      for (int t = 0; t < tokens; ++t) {
        const Float weight = exp_below(hn::Load(floats, score + t * kWidth), after);
        hn::Store(weight, floats, score + t * kWidth);
        total = hn::Add(total, weight);
      }
      rescale[v] = exp_below(before, after);
      hn::Store(after, floats, largest + v * kLanes);
      hn::Store(hn::MulAdd(hn::Load(floats, sum + v * kLanes), rescale[v], total), floats,
                sum + v * kLanes);
    }
  }

  /// Values past the width, up to a multiple of kLeftRows, get sums that are never read.
  HWY_INLINE void accumulate(const float* values, std::int64_t value_stride, int tokens,
                             int value_width, const Float (&rescale)[kVectors]) const {
    const Floats floats;
    constexpr int kRows = kLeftRows<kVectors>;
    for (int d = 0; d < value_width; d += kRows) {
      float* out = output + std::int64_t{d} * kWidth;
      Float c[kRows][kVectors];
#pragma GCC unroll 16
      for (int row = 0; row < kRows; ++row) {
#pragma GCC unroll 4
        for (int v = 0; v < kVectors; ++v) {
          c[row][v] = hn::Mul(hn::Load(floats, out + row * kWidth + v * kLanes), rescale[v]);
        }
      }
      multiply<kRows, kVectors>(values + d, {1, value_stride}, scores, tokens, c);
#pragma GCC unroll 16
      for (int row = 0; row < kRows; ++row) {
#pragma GCC unroll 4
        for (int v = 0; v < kVectors; ++v) {
          hn::Store(c[row][v], floats, out + row * kWidth + v * kLanes);
        }
      }
    }
  }
};

}  // namespace headsplit::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
