#include "kernels/kv_expand/cpu_expand.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "kernels/bf16.h"

// Vectors without a fixed size cannot be kept in arrays.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/kv_expand/cpu_expand.cc"
#include "hwy/foreach_target.h"  // comes first: it includes this file once for each target

#include "hwy/contrib/math/math-inl.h"
#include "hwy/highway.h"

// In order of use: each builds on those before it.
#include "kernels/cpu/vectors.inl"

#include "kernels/cpu/panel.inl"

HWY_BEFORE_NAMESPACE();
namespace headsplit::kernels::HWY_NAMESPACE {

/// Output dims of one panel of weights, and slots multiplied with it at once.
constexpr int kPanelDims = kPanelVectors * kLanes;
constexpr int kSlots = kLeftRows<kPanelVectors>;

/// Four rows of weights to columns of their panel; rows past the last one are 0.
HWY_INLINE void pack_four(const ExpandMatrix& matrix, int d_latent, int first,
                          ExpandWorkspace& work, float* target) {
  const Floats floats;
  for (int i = 0; i < 4; ++i) {
    float* row = work.transpose.get() + i * work.latent_stride;
    if (first + i < matrix.dims) {
      widen(matrix.weights + std::int64_t{first + i} * d_latent, d_latent, row);
    } else {
      std::fill_n(row, d_latent, 0.0f);
    }
  }
  for (int d = 0; d < d_latent; d += kLanes) {
    const auto column = [&](int i) {
      return hn::Load(floats, work.transpose.get() + i * work.latent_stride + d);
    };
    store_columns(column(0), column(1), column(2), column(3), std::min(kLanes, d_latent - d),
                  target + std::int64_t{d} * kPanelDims, kPanelDims);
  }
}

void pack_weights_target(const ExpandMatrix& matrix, int d_latent, ExpandWorkspace& work) {
  for (int panel = 0; panel < matrix.dims; panel += kPanelDims) {
    float* packed = work.weights.get() + std::int64_t{panel} * d_latent;
    for (int row = 0; row < kPanelDims; row += 4) {
      pack_four(matrix, d_latent, panel + row, work, packed + row);
    }
  }
}

/// Slots first .. first + kSlots against one panel; those past the last one are not stored.
HWY_INLINE void multiply_slots(const ExpandWorkspace& work, const float* packed, int d_latent,
                               int first, int slots, int dims, const ExpandOutput& output) {
  Float c[kSlots][kPanelVectors];
#pragma GCC unroll 16
  for (int row = 0; row < kSlots; ++row) {
#pragma GCC unroll 4
    for (int v = 0; v < kPanelVectors; ++v) c[row][v] = hn::Zero(Floats());
  }
  multiply<kSlots, kPanelVectors>(work.latents.get() + first * work.latent_stride,
                                  {work.latent_stride, 1}, packed, d_latent, c);
  HWY_ALIGN float sums[kSlots * kPanelDims];
#pragma GCC unroll 16
  for (int row = 0; row < kSlots; ++row) {
#pragma GCC unroll 4
    for (int v = 0; v < kPanelVectors; ++v) {
      hn::Store(c[row][v], Floats(), sums + row * kPanelDims + v * kLanes);
    }
  }
  for (int row = 0; row < std::min(kSlots, slots - first); ++row) {
    std::uint16_t* out = output.rows + (first + row) * output.row_stride;
    for (int d = 0; d < dims; ++d) out[d] = bf16_bits(sums[row * kPanelDims + d]);
  }
}

void expand_page_target(const ExpandMatrix& matrix, int d_latent, const ExpandPage& page,
                        const ExpandOutput& output, ExpandWorkspace& work) {
  for (int slot = 0; slot < page.slots; ++slot) {
    widen(page.latents + slot * page.row_stride, d_latent,
          work.latents.get() + slot * work.latent_stride);
  }
  for (int panel = 0; panel < matrix.dims; panel += kPanelDims) {
    const float* packed = work.weights.get() + std::int64_t{panel} * d_latent;
    const ExpandOutput columns{output.rows + panel, output.row_stride};
    const int dims = std::min(kPanelDims, matrix.dims - panel);
    for (int slot = 0; slot < page.slots; slot += kSlots) {
      multiply_slots(work, packed, d_latent, slot, page.slots, dims, columns);
    }
  }
}

ExpandShape expand_shape_target() {
  return {.slots_at_once = kSlots,
          .dims_at_once = kPanelDims,
          .instructions = hwy::TargetName(HWY_TARGET)};
}

}  // namespace headsplit::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headsplit::kernels {

HWY_EXPORT(pack_weights_target);
HWY_EXPORT(expand_page_target);
HWY_EXPORT(expand_shape_target);

namespace {

/// Floats in the widest vector, dims of the widest panel, and slots of the tallest block.
constexpr std::int64_t kWidestVector = 16;
constexpr std::int64_t kWidestPanel = 2 * kWidestVector;

}  // namespace

ExpandWorkspace::ExpandWorkspace(int d_latent, int dims_max, int page_tokens)
    : latent_stride(round_up(d_latent, kWidestVector) + kWidestVector),
      latents(zeros((page_tokens + kWidestVector) * latent_stride)),
      weights(zeros(round_up(dims_max, kWidestPanel) * round_up(d_latent, kWidestVector))),
      transpose(zeros(4 * latent_stride)) {}

void pack_weights(const ExpandMatrix& matrix, int d_latent, ExpandWorkspace& workspace) {
  HWY_DYNAMIC_DISPATCH(pack_weights_target)(matrix, d_latent, workspace);
}

void expand_page(const ExpandMatrix& matrix, int d_latent, const ExpandPage& page,
                 const ExpandOutput& output, ExpandWorkspace& workspace) {
  HWY_DYNAMIC_DISPATCH(expand_page_target)(matrix, d_latent, page, output, workspace);
}

ExpandShape expand_shape() { return HWY_DYNAMIC_DISPATCH(expand_shape_target)(); }

}  // namespace headsplit::kernels
#endif
