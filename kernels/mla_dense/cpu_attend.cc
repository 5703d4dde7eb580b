#include "kernels/mla_dense/cpu_attend.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

// Vectors without a fixed size cannot be kept in arrays.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/mla_dense/cpu_attend.cc"
#include "hwy/foreach_target.h"  // comes first: it includes this file once for each target

#include "hwy/contrib/math/math-inl.h"
#include "hwy/highway.h"

// In order of use: each builds on those before it.
#include "kernels/mla_dense/cpu_vectors.inl"

#include "kernels/mla_dense/cpu_combine.inl"
#include "kernels/mla_dense/cpu_token_group.inl"

#include "kernels/mla_dense/cpu_few_rows.inl"
#include "kernels/mla_dense/cpu_panel.inl"

#include "kernels/mla_dense/cpu_many_rows.inl"

HWY_BEFORE_NAMESPACE();
namespace headsplit::kernels::HWY_NAMESPACE {

void begin_rows(const AttendArguments& in, AttendWorkspace& work) {
  const RankProblem& shape = in.problem->shape;
  std::fill_n(work.largest.get(), work.padded_rows, kNothing);
  std::fill_n(work.sum.get(), work.padded_rows, 0.0f);
  std::fill_n(work.output.get(), work.padded_rows * work.output_stride, 0.0f);
  for (int row = 0; row < in.rows(); ++row) {
    const int attended = in.problem->attended(in.task.request, row / shape.local_heads);
    work.end[std::size_t(row)] = static_cast<float>(attended);
  }
}

void attend_target(const AttendArguments& in, AttendWorkspace& work) {
  begin_rows(in, work);
  if (takes_few_path(in.problem->shape)) {
    attend_few(in, work);
  } else {
    attend_many(in, work);
  }
  for (int row = 0; row < in.rows(); ++row) {
    const float sum = work.sum[std::size_t(row)];
    in.lse[row] = sum > 0 ? work.largest[std::size_t(row)] + std::log(sum) : kNothing;
  }
}

void combine_target(const CombineArguments& in) { combine_rows(in); }

AttendShape shape_target(const RankProblem& shape) {
  const int rows = shape.query_tokens * shape.local_heads;
  const char* instructions = hwy::TargetName(HWY_TARGET);
  if (takes_few_path(shape)) {
    return AttendShape{.rows_at_once = std::min(rows, kMostRows),
                       .tokens_at_once = kGroupTokens,
                       .loops = "few rows, cache read as stored",
                       .instructions = instructions};
  }
  return AttendShape{.rows_at_once = kPanelVectors * kLanes,
                     .tokens_at_once = kCpuTileTokens,
                     .padded_rows = (rows + kLanes - 1) / kLanes * kLanes - rows,
                     .loops = "many rows, tiles widened to fp32",
                     .instructions = instructions};
}

}  // namespace headsplit::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headsplit::kernels {

HWY_EXPORT(attend_target);
HWY_EXPORT(combine_target);
HWY_EXPORT(shape_target);

namespace {

/// Floats in the widest vector, and query rows in the widest panel.
constexpr std::int64_t kWidestVector = 16;
constexpr std::int64_t kWidestPanel = 2 * kWidestVector;

std::int64_t round_up(std::int64_t count, std::int64_t multiple) {
  return (count + multiple - 1) / multiple * multiple;
}

AlignedArray<float> zeros(std::int64_t count) {
  return make_zeroed<float>(static_cast<std::size_t>(count));
}

}  // namespace

AttendWorkspace::AttendWorkspace(const RankProblem& shape)
    : padded_rows(static_cast<int>(
          round_up(std::int64_t{1} * shape.query_tokens * shape.local_heads, kWidestPanel))),
      // One vector more than needed: the small kernels round their rows up.
      latent_stride(round_up(shape.d_qk(), kWidestVector) + kWidestVector),
      output_stride(round_up(shape.d_latent, kWidestVector) + kWidestVector),
      query(zeros(padded_rows * round_up(shape.d_qk(), kWidestVector))),
      latent(zeros((kCpuTileTokens + kWidestVector) * latent_stride)),
      scores(zeros((kCpuTileTokens + kWidestVector) * kWidestPanel)),
      output(zeros(padded_rows * output_stride)),
      largest(zeros(padded_rows)),
      sum(zeros(padded_rows)),
      end(zeros(padded_rows)) {}

void attend(const AttendArguments& arguments, AttendWorkspace& workspace) {
  HWY_DYNAMIC_DISPATCH(attend_target)(arguments, workspace);
}

void combine(const CombineArguments& arguments) { HWY_DYNAMIC_DISPATCH(combine_target)(arguments); }

AttendShape attend_shape(const RankProblem& shape) {
  return HWY_DYNAMIC_DISPATCH(shape_target)(shape);
}

}  // namespace headsplit::kernels
#endif
