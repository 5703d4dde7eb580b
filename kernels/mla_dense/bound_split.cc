#include "kernels/mla_dense/bound_split.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "kernels/device/row_gather.h"
#include "kernels/e4m3.h"
#include "kernels/mla_dense/device_buffers.h"
#include "kernels/mla_dense/planned_split.h"
#include "kernels/split/combine.h"
#include "kernels/split/gpu_limits.h"

namespace headsplit::kernels::dense {
namespace {

using split::CombineArguments;
using split::entry_point;

constexpr double kLog2e = 1.4426950408889634;

/// Sinks are applied where partials are merged: every row goes that way.
void put_all_in_slots(SplitPlan& plan) {
  for (WorkItem& item : plan.items) {
    if (item.slot >= 0) continue;
    item.slot = plan.slot_count++;
    plan.merges.push_back({item.request, item.row_begin, item.row_count, item.slot, 1});
  }
}

Config config_of(const Problem& problem, const Choice& choice, const SplitPlan& plan) {
  const int packed_rows = problem.shape.query_tokens * problem.shape.local_heads;
  int padded_rows = 0;
  for (int row = 0; row < packed_rows; row += plan.tile_rows) {
    const int block = choice.kernel.block_rows;
    padded_rows += (std::min(plan.tile_rows, packed_rows - row) + block - 1) / block * block;
  }
  return Config{.tile_rows = plan.tile_rows,
                .tile_tokens = choice.kernel.tokens,
                .num_splits = plan.num_splits,
                .padded_rows = padded_rows - packed_rows,
                .workers = plan.ctas(),
                .reason = str(choice.reason, "; ", plan.row_tiles, " row tiles of ", plan.tile_rows,
                              " rows, ", plan.width, " side by side; ", plan.items.size(),
                              " runs of tokens on ", plan.ctas(), " CTAs, ", plan.merges.size(),
                              " row tiles to be combined")};
}

class BoundSplit final : public BoundKernel {
 public:
  BoundSplit(const Problem& problem, const GpuLimits& limits, const Choice& choice,
             const SplitPlan& plan, Buffers buffers, const BindOptions& options,
             Arithmetic arithmetic)
      : problem_(problem),
        arithmetic_(arithmetic),
        kernel_(choice.kernel),
        stream_(static_cast<cudaStream_t>(options.stream)),
        pool_(options.pool),
        overlaps_(limits.compute_major >= 9),
        ctas_(plan.ctas()),
        buffers_(std::move(buffers)),
        config_(config_of(problem, choice, plan)),
        partials_most_(options.num_splits > 0 ? options.num_splits : plan.num_splits),
        split_(split_arguments(choice, plan)),
        combine_(combine_arguments(plan)) {
    if (options.lists) split_.page_table = options.lists->slots;
  }

  /// What can fail before the first launch.
  Result<void> prepare() {
    return cuda_result(cudaFuncSetAttribute(entry_point(kernel_.function),
                                            cudaFuncAttributeMaxDynamicSharedMemorySize,
                                            kernel_.shared_bytes(split_.stages)),
                       "cudaFuncSetAttribute");
  }

  const Config& config() const override { return config_; }

  Arithmetic arithmetic() const override { return arithmetic_; }

  Result<void> poison() override { return buffers_.poison(stream_); }

  Result<void> launch(Part part) override {
    if (part != Part::combine) TRY(launch_split());
    if (part != Part::split && combine_.merge_count > 0) {
      TRY(split::launch_combine(combine_, {.num_splits = partials_most_,
                                           .overlaps = part == Part::all && overlaps_,
                                           .stream = stream_}));
    }
    return {};
  }

  Result<std::vector<OutputRow>> output_rows(std::span<const std::int64_t> rows) override {
    return read_rows({.values = buffers_.output.data(),
                      .lse = buffers_.lse.data(),
                      .rows = problem_.rows(),
                      .width = problem_.shape.d_latent},
                     rows, stream_, pool_);
  }

  std::optional<OutputView> output() const override {
    return OutputView{.values_bf16 = buffers_.output.data(), .lse = buffers_.lse.data()};
  }

 private:
  SplitArguments split_arguments(const Choice& choice, const SplitPlan& plan) const {
    const RankProblem& shape = problem_.shape;
    SplitArguments arguments{
        .query = buffers_.query.data(),
        .cache = buffers_.cache.data(),
        .page_table = buffers_.page_table.data(),
        .ends = buffers_.ends.data(),
        .items = buffers_.items.data(),
        .item_begin = buffers_.item_begin.data(),
        .output = buffers_.output.data(),
        .lse = buffers_.lse.data(),
        .partial_output = buffers_.partial_output.data(),
        .partial_lse = buffers_.partial_lse.data(),
        .packed_rows = shape.query_tokens * shape.local_heads,
        .local_heads = shape.local_heads,
        .query_tokens = shape.query_tokens,
        .pages_per_request = problem_.pages_per_request,
        .page_shift = std::countr_zero(static_cast<unsigned>(problem_.page_tokens)),
        .tile_rows = plan.tile_rows,
        .stages = choice.stages,
        .scale_log2 = static_cast<float>(double{problem_.softmax_scale} * kLog2e),
        // Where no other CTA wants a line of the cache, it makes room for partials and queries.
        .cache_policy = plan.width == 1 ? buffers_.first_to_go : buffers_.as_usual,
        .scratch = buffers_.scratch.data(),
        .cache_scale = fp8_tensor_scale(problem_.seed),
        .cache_map = buffers_.cache_map.data(),
        .slot_count = static_cast<std::int32_t>(problem_.slot_count())};
    if (plan.one_item_each() && plan.ctas() <= kInlineItems) {
      std::copy(plan.items.begin(), plan.items.end(), arguments.inline_items);
      arguments.items = nullptr;
    }
    return arguments;
  }

  CombineArguments combine_arguments(const SplitPlan& plan) const {
    CombineArguments arguments{.merges = buffers_.merges.data(),
                               .partial_output = buffers_.partial_output.data(),
                               .partial_lse = buffers_.partial_lse.data(),
                               .output = buffers_.output.data(),
                               .lse = buffers_.lse.data(),
                               .merge_count = static_cast<std::int32_t>(plan.merges.size()),
                               .packed_rows = split_.packed_rows,
                               .tile_rows = plan.tile_rows,
                               .width = problem_.shape.d_latent};
    if (!problem_.sinks.empty()) arguments.sinks = buffers_.sinks.data();
    split::carry_merges(arguments, plan.merges);
    return arguments;
  }

  Result<void> launch_split() {
    cudaLaunchConfig_t launch{};
    launch.gridDim = dim3(static_cast<unsigned>(ctas_));
    launch.blockDim = dim3(static_cast<unsigned>(kernel_.threads));
    launch.dynamicSmemBytes = static_cast<std::size_t>(kernel_.shared_bytes(split_.stages));
    launch.stream = stream_;
    void* arguments[] = {&split_};
    CUDA_TRY(cudaLaunchKernelExC(&launch, entry_point(kernel_.function), arguments));
    return {};
  }

  Problem problem_;
  Arithmetic arithmetic_;
  SplitKernel kernel_;
  cudaStream_t stream_;
  DevicePool* pool_;
  bool overlaps_;  ///< the GPU has programmatic dependent launch
  int ctas_;
  Buffers buffers_;
  Config config_;
  /// Of a request: with fixed splits as many as asked for, not as any request of the batch got, so
  /// that the order of sums does not depend on the batch.
  int partials_most_;
  SplitArguments split_;
  CombineArguments combine_;
};

}  // namespace

Result<std::unique_ptr<BoundKernel>> bind_split(const Problem& problem, const Problem& inputs,
                                                const BindOptions& options, Arithmetic arithmetic) {
  const GpuLimits limits = TRY(split::current_gpu());
  auto [choice, plan] = TRY(choose_plan(problem, limits, options.num_splits, arithmetic));
  if (!problem.sinks.empty()) put_all_in_slots(plan);
  auto* const stream = static_cast<cudaStream_t>(options.stream);
  Buffers buffers = TRY(make_buffers(problem, inputs, plan, stream, options.pool));
  const std::int64_t scratch_bytes = std::int64_t{plan.ctas()} * choice.kernel.scratch_bytes;
  buffers.scratch = TRY(DeviceBuffer<float>::make(scratch_bytes / 4, options.pool));
  auto bound = std::make_unique<BoundSplit>(problem, limits, choice, plan, std::move(buffers),
                                            options, arithmetic);
  TRY(bound->prepare());
  return bound;
}

}  // namespace headsplit::kernels::dense
