#include "kernels/dsa_indexer/dsa_indexer_cuda.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "kernels/dsa_indexer/device_buffers.h"
#include "kernels/dsa_indexer/score_choice.h"
#include "kernels/dsa_indexer/select.h"
#include "kernels/split/sequences.h"

namespace headsplit::kernels {
namespace indexer {
namespace {

using split::entry_point;

ScoreArguments score_arguments(const Problem& problem, const Choice& choice,
                               const Buffers& buffers) {
  const RankProblem& shape = problem.shape;
  return {.query = buffers.query.data(),
          .weights = buffers.weights.data(),
          .cache = buffers.cache.data(),
          .page_table = buffers.page_table.data(),
          .lengths = buffers.lengths.data(),
          .first_tile = buffers.first_tile.data(),
          .scores = buffers.scores.data(),
          .score_stride = buffers.score_stride,
          .batch = shape.batch,
          .query_tokens = shape.query_tokens,
          .heads = shape.index_heads,
          .group_tokens = choice.memory.group_tokens,
          .pages_per_request = problem.pages_per_request,
          .page_shift = std::countr_zero(static_cast<unsigned>(problem.page_tokens)),
          .stages = choice.stages};
}

SelectArguments select_arguments(const Problem& problem, const Buffers& buffers) {
  return {.scores = buffers.scores.data(),
          .page_table = buffers.page_table.data(),
          .ends = buffers.ends.data(),
          .chosen = buffers.chosen.data(),
          .counts = buffers.counts.data(),
          .score_stride = buffers.score_stride,
          .query_tokens = problem.shape.query_tokens,
          .top_k = problem.shape.top_k,
          .pages_per_request = problem.pages_per_request,
          .page_shift = std::countr_zero(static_cast<unsigned>(problem.page_tokens))};
}

Config config_of(const Problem& problem, const Choice& choice) {
  const RankProblem& shape = problem.shape;
  return {.tile_rows = choice.kernel.heads * choice.memory.group_tokens,
          .tile_tokens = kTokens,
          .num_splits = choice.select_ctas,
          .padded_rows = (choice.kernel.heads - shape.index_heads) * shape.query_tokens,
          .workers = choice.ctas * choice.groups,
          .reason = str("scores by ", choice.kernel.name, ", ", choice.ctas, " x ", choice.groups,
                        " CTAs of ", choice.stages, " stages; selection by radix, ",
                        choice.select_ctas, " CTAs a row")};
}

class DsaIndexerCuda final : public IndexerKernel {
 public:
  DsaIndexerCuda(const Problem& problem, const Choice& choice, bool overlaps, Buffers buffers,
                 const BindOptions& options)
      : IndexerKernel(problem),
        choice_(choice),
        overlaps_(overlaps),
        stream_(static_cast<cudaStream_t>(options.stream)),
        buffers_(std::move(buffers)),
        score_(score_arguments(problem_, choice_, buffers_)),
        select_(select_arguments(problem_, buffers_)) {
    config_ = config_of(problem_, choice_);
  }

  /// What can fail before the first launch.
  Result<void> prepare() {
    CUDA_TRY(cudaFuncSetAttribute(entry_point(choice_.kernel.function),
                                  cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  choice_.shared_bytes()));
    CUDA_TRY(cudaFuncSetAttribute(entry_point(select_kernel().function),
                                  cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  select_kernel().shared_bytes));
    return {};
  }

  Result<void> poison() override { return buffers_.poison(stream_); }

  Result<void> launch(Part part) override {
    if (part != Part::combine) TRY(launch_scores());
    if (part != Part::split) TRY(launch_selection(part == Part::all && overlaps_));
    return {};
  }

  Result<RowResult> row_result(std::int64_t row) override {
    RowResult result;
    result.scores.resize(static_cast<std::size_t>(place_of(problem_, row).tokens));
    result.chosen.resize(static_cast<std::size_t>(problem_.shape.top_k));
    CUDA_TRY(
        cudaMemcpyAsync(result.scores.data(), buffers_.scores.data() + row * buffers_.score_stride,
                        result.scores.size() * sizeof(float), cudaMemcpyDeviceToHost, stream_));
    CUDA_TRY(cudaMemcpyAsync(
        result.chosen.data(), buffers_.chosen.data() + row * problem_.shape.top_k,
        result.chosen.size() * sizeof(std::int32_t), cudaMemcpyDeviceToHost, stream_));
    CUDA_TRY(cudaStreamSynchronize(stream_));
    return result;
  }

  std::optional<TokenLists> lists() const override {
    return TokenLists{.slots = buffers_.chosen.data(), .lengths = buffers_.counts.data()};
  }

  Result<std::int32_t> chosen_count(std::int64_t row) override {
    std::int32_t count = 0;
    CUDA_TRY(cudaMemcpyAsync(&count, buffers_.counts.data() + row, sizeof count,
                             cudaMemcpyDeviceToHost, stream_));
    CUDA_TRY(cudaStreamSynchronize(stream_));
    return count;
  }

 private:
  Result<void> launch_scores() {
    cudaLaunchConfig_t launch{};
    launch.gridDim =
        dim3(static_cast<unsigned>(choice_.ctas), static_cast<unsigned>(choice_.groups));
    launch.blockDim = dim3(static_cast<unsigned>(choice_.kernel.threads));
    launch.dynamicSmemBytes = static_cast<std::size_t>(choice_.shared_bytes());
    launch.stream = stream_;
    void* arguments[] = {&score_};
    CUDA_TRY(cudaLaunchKernelExC(&launch, entry_point(choice_.kernel.function), arguments));
    return {};
  }

  /// overlaps: right behind the scores, on a GPU that can start it early.
  Result<void> launch_selection(bool overlaps) {
    std::array<cudaLaunchAttribute, 2> attributes{};
    unsigned count = 0;
    const auto ctas = static_cast<unsigned>(choice_.select_ctas);
    if (ctas > 1) {
      attributes[count].id = cudaLaunchAttributeClusterDimension;
      attributes[count++].val.clusterDim = {ctas, 1, 1};
    }
    if (overlaps) {
      attributes[count].id = cudaLaunchAttributeProgrammaticStreamSerialization;
      attributes[count++].val.programmaticStreamSerializationAllowed = 1;
    }
    cudaLaunchConfig_t launch{};
    launch.gridDim = dim3(static_cast<unsigned>(problem_.rows()) * ctas);
    launch.blockDim = dim3(kSelectThreads);
    launch.dynamicSmemBytes = static_cast<std::size_t>(select_kernel().shared_bytes);
    launch.stream = stream_;
    launch.attrs = attributes.data();
    launch.numAttrs = count;
    void* arguments[] = {&select_};
    CUDA_TRY(cudaLaunchKernelExC(&launch, entry_point(select_kernel().function), arguments));
    return {};
  }

  Choice choice_;
  bool overlaps_;  ///< the GPU has programmatic dependent launch
  cudaStream_t stream_;
  Buffers buffers_;
  ScoreArguments score_;
  SelectArguments select_;
};

}  // namespace

Result<std::unique_ptr<IndexerKernel>> bind_cuda(const Problem& problem, const BindOptions& options,
                                                 const Tuning& tuning) {
  TRY(dsa_indexer_cuda_supports(problem.shape));
  TRY(split::check_page_tokens("dsa_indexer on CUDA takes", problem.page_tokens));
  const split::GpuLimits limits = TRY(split::current_gpu());
  const Choice choice = TRY(choose(problem, limits, tuning));
  Buffers buffers =
      TRY(make_buffers(problem, static_cast<cudaStream_t>(options.stream), options.pool));
  auto bound = std::make_unique<DsaIndexerCuda>(problem, choice, limits.compute_major >= 9,
                                                std::move(buffers), options);
  TRY(bound->prepare());
  return bound;
}

}  // namespace indexer

Result<void> dsa_indexer_cuda_supports(const RankProblem& shape) {
  return indexer::check_indexer_shape(shape);
}

Result<std::unique_ptr<BoundKernel>> bind_dsa_indexer_cuda(const Problem& problem,
                                                           const BindOptions& options) {
  return TRY(indexer::bind_cuda(problem, options, {}));
}

}  // namespace headsplit::kernels
