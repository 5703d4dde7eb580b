#include "kernels/per_head/per_head_cuda.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "kernels/device/row_gather.h"
#include "kernels/device/tensor_map.h"
#include "kernels/device/tile_layout.h"
#include "kernels/per_head/device_buffers.h"
#include "kernels/per_head/head_choice.h"
#include "kernels/per_head/shape.h"
#include "kernels/split/combine.h"

namespace headsplit::kernels {
namespace {

using namespace per_head;
using split::CombineArguments;
using split::SplitPlan;

constexpr double kLog2e = 1.4426950408889634;

Config config_of(const Problem& problem, const Choice& choice, const SplitPlan& plan) {
  const int rows = packed_rows(problem.shape);
  int padded_rows = 0;
  for (int row = 0; row < rows; row += plan.tile_rows) {
    const int block = choice.kernel.block_rows;
    padded_rows += (std::min(plan.tile_rows, rows - row) + block - 1) / block * block;
  }
  return Config{.tile_rows = plan.tile_rows,
                .tile_tokens = choice.kernel.tokens,
                .num_splits = plan.num_splits,
                .padded_rows = (padded_rows - rows) * problem.shape.kv_heads,
                .workers = plan.ctas(),
                .reason = str(choice.reason, "; ", plan.row_tiles, " row tiles of ", plan.tile_rows,
                              " rows a KV head, ", plan.width, " side by side; ", plan.items.size(),
                              " runs of tokens on ", plan.ctas(), " CTAs, ", plan.merges.size(),
                              " row tiles to be combined")};
}

class PerHeadCuda final : public BoundKernel {
 public:
  PerHeadCuda(const Problem& problem, bool overlaps, const PlannedSplit& planned, Buffers buffers,
              const BindOptions& options)
      : problem_(problem),
        kernel_(planned.choice.kernel),
        stream_(static_cast<cudaStream_t>(options.stream)),
        pool_(options.pool),
        overlaps_(overlaps),
        ctas_(planned.plan.ctas()),
        buffers_(std::move(buffers)),
        cache_(options.expanded.value_or(
            ExpandedCache{.keys = buffers_.key.data(), .values = buffers_.value.data()})),
        config_(config_of(problem, planned.choice, planned.plan)),
        split_(split_arguments(planned)),
        combine_(combine_arguments(planned.plan)) {}

  /// What can fail before the first launch.
  Result<void> prepare() {
    TRY(make_hopper_arguments());
    return cuda_result(cudaFuncSetAttribute(function(), cudaFuncAttributeMaxDynamicSharedMemorySize,
                                            kernel_.shared_bytes(split_.stages)),
                       "cudaFuncSetAttribute");
  }

  const Config& config() const override { return config_; }

  Result<void> poison() override { return buffers_.poison(stream_); }

  Result<void> launch(Part part) override {
    if (part != Part::combine) TRY(launch_split());
    if (part == Part::split || combine_.merge_count == 0) return {};
    return split::launch_combine(combine_, {.num_splits = config_.num_splits,
                                            .overlaps = part == Part::all && overlaps_,
                                            .stream = stream_});
  }

  Result<std::vector<OutputRow>> output_rows(std::span<const std::int64_t> rows) override {
    return read_rows({.values = buffers_.output.data(),
                      .lse = buffers_.lse.data(),
                      .rows = problem_.rows(),
                      .width = problem_.shape.output_width()},
                     rows, stream_, pool_);
  }

  std::optional<OutputView> output() const override {
    return OutputView{.values_bf16 = buffers_.output.data(), .lse = buffers_.lse.data()};
  }

 private:
  SplitArguments split_arguments(const PlannedSplit& planned) const {
    const RankProblem& shape = problem_.shape;
    SplitArguments arguments{
        .query = buffers_.query.data(),
        .key = cache_.keys,
        .value = cache_.values,
        .page_table = buffers_.page_table.data(),
        .ends = buffers_.ends.data(),
        .items = buffers_.items.data(),
        .item_begin = buffers_.item_begin.data(),
        .output = buffers_.output.data(),
        .lse = buffers_.lse.data(),
        .partial_output = buffers_.partial_output.data(),
        .partial_lse = buffers_.partial_lse.data(),
        .query_tokens = shape.query_tokens,
        .kv_heads = shape.kv_heads,
        .group_heads = shape.local_heads / shape.kv_heads,
        .d_k = shape.query_width(),
        .d_v = shape.output_width(),
        .pages_per_request = problem_.pages_per_request,
        .page_shift = std::countr_zero(static_cast<unsigned>(problem_.page_tokens)),
        .tile_rows = planned.plan.tile_rows,
        .stages = planned.choice.stages,
        .scale_log2 = static_cast<float>(double{problem_.softmax_scale} * kLog2e),
        .read_once = planned.plan.row_tiles == 1};
    const SplitPlan& plan = planned.plan;
    if (plan.one_item_each() && plan.ctas() <= SplitArguments::kInlineItems) {
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
                               .packed_rows = packed_rows(problem_.shape),
                               .tile_rows = plan.tile_rows,
                               .width = split_.d_v,
                               .kv_heads = split_.kv_heads,
                               .group_heads = split_.group_heads};
    split::carry_merges(arguments, plan.merges);
    return arguments;
  }

  /// For the kernel that takes them.
  Result<void> make_hopper_arguments() {
    if (kernel_.hopper == nullptr) return {};
    const RankProblem& shape = problem_.shape;
    const int box_tokens = std::min(problem_.page_tokens, kernel_.tokens);
    TensorMapRequest cache{
        .base = split_.key,
        .sizes = {split_.d_k, problem_.page_tokens, shape.kv_heads, problem_.page_count},
        .box = {kTileRowValues, box_tokens, 1, 1}};
    hopper_.keys = TRY(make_tensor_map(cache));
    cache.base = split_.value;
    cache.sizes[0] = split_.d_v;
    hopper_.values = TRY(make_tensor_map(cache));
    const int tile_tokens = split_.tile_rows / split_.group_heads;
    hopper_.query = TRY(
        make_tensor_map({.base = split_.query,
                         .sizes = {split_.d_k, shape.local_heads, shape.query_tokens, shape.batch},
                         .box = {kTileRowValues, split_.group_heads, tile_tokens, 1}}));
    hopper_.page_table = split_.page_table;
    hopper_.ends = split_.ends;
    hopper_.items = buffers_.hopper_items.data();
    hopper_.item_begin = split_.item_begin;
    hopper_.output = split_.output;
    hopper_.lse = split_.lse;
    hopper_.partial_output = split_.partial_output;
    hopper_.partial_lse = split_.partial_lse;
    hopper_.heads = shape.local_heads;
    hopper_.group_heads = split_.group_heads;
    hopper_.query_tokens = split_.query_tokens;
    hopper_.pages_per_request = split_.pages_per_request;
    hopper_.page_shift = split_.page_shift;
    hopper_.tile_rows = split_.tile_rows;
    hopper_.scale_log2 = split_.scale_log2;
    return {};
  }

  const void* function() const {
    return kernel_.hopper == nullptr ? split::entry_point(kernel_.portable)
                                     : split::entry_point(kernel_.hopper);
  }

  Result<void> launch_split() {
    cudaLaunchConfig_t launch{};
    launch.gridDim = dim3(static_cast<unsigned>(ctas_));
    launch.blockDim = dim3(static_cast<unsigned>(kernel_.threads));
    launch.dynamicSmemBytes = static_cast<std::size_t>(kernel_.shared_bytes(split_.stages));
    launch.stream = stream_;
    void* of_portable[] = {&split_};
    void* of_hopper[] = {&hopper_};
    CUDA_TRY(cudaLaunchKernelExC(&launch, function(),
                                 kernel_.hopper == nullptr ? of_portable : of_hopper));
    return {};
  }

  Problem problem_;
  HeadKernel kernel_;
  cudaStream_t stream_;
  DevicePool* pool_;
  bool overlaps_;  ///< the GPU has programmatic dependent launch
  int ctas_;
  Buffers buffers_;
  ExpandedCache cache_;  ///< ours, or what it was bound to
  Config config_;
  SplitArguments split_;
  hopper::Arguments hopper_{};
  CombineArguments combine_;
};

}  // namespace

Result<void> per_head_cuda_supports(const RankProblem& shape) {
  TRY(check_per_head_shape("per-head attention on CUDA", shape));
  if (shape.kv_dtype == KvDtype::bf16) return {};
  return fail(ErrorKind::config, "per-head attention on CUDA reads bf16 caches only, not ",
              enum_name(shape.kv_dtype));
}

Result<std::unique_ptr<BoundKernel>> bind_per_head_cuda(const Problem& problem,
                                                        const BindOptions& options) {
  TRY(per_head_cuda_supports(problem.shape));
  TRY(split::check_page_tokens("per-head kernels on CUDA take", problem.page_tokens));
  const split::GpuLimits limits = TRY(split::current_gpu());
  const PlannedSplit planned = TRY(choose_plan(problem, limits, options.num_splits));
  auto* const stream = static_cast<cudaStream_t>(options.stream);
  Buffers buffers =
      TRY(make_buffers(problem, planned.plan, !options.expanded, stream, options.pool));
  auto bound = std::make_unique<PerHeadCuda>(problem, limits.compute_major >= 9, planned,
                                             std::move(buffers), options);
  TRY(bound->prepare());
  return bound;
}

}  // namespace headsplit::kernels
