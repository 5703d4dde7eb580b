#include "kernels/cpu/attend.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

// Vectors without a fixed size cannot be kept in arrays.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/attend.cc"
#include "hwy/foreach_target.h"  // comes first: it includes this file once for each target

#include "hwy/contrib/math/math-inl.h"
#include "hwy/highway.h"

// In order of use: each builds on those before it.
#include "kernels/cpu/vectors.inl"

#include "kernels/cpu/combine.inl"
#include "kernels/cpu/token_group.inl"

#include "kernels/cpu/few_rows.inl"
#include "kernels/cpu/panel.inl"

#include "kernels/cpu/many_rows.inl"

HWY_BEFORE_NAMESPACE();
namespace headsplit::kernels::HWY_NAMESPACE {

void begin_rows(const AttendArguments& in, AttendWorkspace& work) {
  std::fill_n(work.largest.get(), work.padded_rows, kNothing);
  std::fill_n(work.sum.get(), work.padded_rows, 0.0f);
  std::fill_n(work.output.get(), work.padded_rows * work.output_stride, 0.0f);
  const WorkItem& item = in.task.item;
  for (int row = 0; row < in.rows(); ++row) {
    const int token = item.query_begin + row / in.query_rows.group;
    work.end[std::size_t(row)] = static_cast<float>(in.problem->attended(item.request, token));
  }
}

void attend_target(const AttendArguments& in, AttendWorkspace& work) {
  begin_rows(in, work);
  if (takes_few_path(in.rows(), in.keys.width, in.values.width)) {
    attend_few(in, work);
  } else {
    attend_many(in, work);
  }
  for (int row = 0; row < in.rows(); ++row) {
    const float sum = work.sum[std::size_t(row)];
    in.lse[in.output_rows.row(row)] =
        sum > 0 ? work.largest[std::size_t(row)] + std::log(sum) : kNothing;
  }
}

void combine_target(const CombineArguments& in) { combine_rows(in); }

AttendShape shape_target(const AttendSizes& sizes) {
  const int rows = sizes.rows_max;
  const char* instructions = hwy::TargetName(HWY_TARGET);
  if (takes_few_path(rows, sizes.key_width, sizes.value_width)) {
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

}  // namespace

AttendSizes attend_sizes(const RankProblem& shape) {
  const bool shared = shape.family != Family::per_head;
  return AttendSizes{.rows_max = shape.local_heads / cpu_kv_heads(shape) * cpu_item_tokens(shape),
                     .key_width = shape.query_width(),
                     .value_width = shape.output_width(),
                     .shared = shared};
}

AttendWorkspace::AttendWorkspace(const AttendSizes& sizes)
    : padded_rows(static_cast<int>(round_up(sizes.rows_max, kWidestPanel))),
      // One vector more than needed: the small kernels round their rows up.
      key_stride(round_up(sizes.key_width, kWidestVector) + kWidestVector),
      value_stride(sizes.shared ? key_stride
                                : round_up(sizes.value_width, kWidestVector) + kWidestVector),
      output_stride(round_up(sizes.value_width, kWidestVector) + kWidestVector),
      query(zeros(padded_rows * round_up(sizes.key_width, kWidestVector))),
      keys(zeros((kCpuTileTokens + kWidestVector) * key_stride)),
      values(sizes.shared ? nullptr : zeros((kCpuTileTokens + kWidestVector) * value_stride)),
      scores(zeros((kCpuTileTokens + kWidestVector) * kWidestPanel)),
      output(zeros(padded_rows * output_stride)),
      largest(zeros(padded_rows)),
      sum(zeros(padded_rows)),
      end(zeros(padded_rows)) {}

void attend(const AttendArguments& arguments, AttendWorkspace& workspace) {
  HWY_DYNAMIC_DISPATCH(attend_target)(arguments, workspace);
}

void combine(const CombineArguments& arguments) { HWY_DYNAMIC_DISPATCH(combine_target)(arguments); }

AttendShape attend_shape(const AttendSizes& sizes) {
  return HWY_DYNAMIC_DISPATCH(shape_target)(sizes);
}

}  // namespace headsplit::kernels
#endif
