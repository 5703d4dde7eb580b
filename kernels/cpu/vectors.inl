// What the vector code of this folder shares.  The .inl files are parts of cpu_attend.cc, which
// compiles them once for each instruction set; so they have no include guards.

HWY_BEFORE_NAMESPACE();
namespace headsplit::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
using Float = hn::Vec<Floats>;
using Words = hn::RebindToUnsigned<Floats>;
constexpr int kLanes = HWY_LANES(float);
constexpr float kNothing = -std::numeric_limits<float>::infinity();

/// Sets with 32 registers keep twice as many sums in them as those with 16.
constexpr bool kManyRegisters = HWY_TARGET <= HWY_AVX3 || HWY_TARGET == HWY_NEON;

/// Two vectors from 2 x kLanes neighbouring bf16: those at even places, and those at odd places.
/// A bf16 is the upper half of a float, so one operation each makes them, and no lane moves.
struct EvenOdd {
  Float even;
  Float odd;
};
HWY_INLINE EvenOdd load_bf16_pairs(const std::uint16_t* source) {
  const Words words;
  const hn::Repartition<std::uint16_t, Floats> halves;
  const auto pairs = hn::BitCast(words, hn::LoadU(halves, source));
  return {hn::BitCast(Floats(), hn::ShiftLeft<16>(pairs)),
          hn::BitCast(Floats(), hn::And(pairs, hn::Set(words, 0xFFFF0000u)))};
}

/// bf16 [count] to fp32, in order.
HWY_INLINE void widen(const std::uint16_t* source, int count, float* target) {
  const Floats floats;
  const hn::Rebind<hwy::bfloat16_t, Floats> narrow;
  const auto* bf16 = reinterpret_cast<const hwy::bfloat16_t*>(source);
  int i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    hn::StoreU(hn::PromoteTo(floats, hn::LoadU(narrow, bf16 + i)), floats, target + i);
  }
  for (; i < count; ++i) {
    const std::uint32_t bits = static_cast<std::uint32_t>(source[i]) << 16;
    std::memcpy(target + i, &bits, sizeof bits);
  }
}

/// Store four vectors as columns: target[i x stride + 0..3] = lane i of each, for i < count.
HWY_INLINE void store_columns(Float v0, Float v1, Float v2, Float v3, int count, float* target,
                              std::int64_t stride) {
  HWY_ALIGN float lanes[4 * kLanes];
  hn::StoreInterleaved4(v0, v1, v2, v3, Floats(), lanes);
  for (int i = 0; i < count; ++i) {
    std::memcpy(target + i * stride, lanes + 4 * i, 4 * sizeof(float));
  }
}

/// exp(x - reference) where the reference is a maximum that may be -infinity: nothing to weigh.
HWY_INLINE Float exp_below(Float x, Float reference) {
  const Floats floats;
  const auto empty = hn::Eq(reference, hn::Set(floats, kNothing));
  return hn::Exp(floats, hn::Sub(x, hn::IfThenZeroElse(empty, reference)));
}

}  // namespace headsplit::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
