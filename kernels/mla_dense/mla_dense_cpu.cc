#include "kernels/mla_dense/mla_dense_cpu.h"

#include <algorithm>
#include <limits>
#include <new>

#include "kernels/mla_dense/cpu_attend.h"
#include "kernels/mla_dense/cpu_buffers.h"
#include "kernels/mla_dense/cpu_plan.h"

namespace headsplit::kernels {
namespace {

class MlaDenseCpu final : public BoundKernel {
 public:
  MlaDenseCpu(const Problem& problem, int threads, int num_splits)
      : problem_(problem),
        pool_(threads),
        plan_(plan_cpu(problem_, threads, num_splits)),
        buffers_(make_cpu_buffers(problem_, plan_.partial_count, pool_)),
        rows_a_request_(std::int64_t{1} * problem.shape.query_tokens * problem.shape.local_heads) {
    for (int worker = 0; worker < threads; ++worker) workspaces_.emplace_back(problem_.shape);
  }

  const Config& config() const override { return plan_.config; }

  Result<void> poison() override {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const std::int64_t d_latent = problem_.shape.d_latent;
    const std::int64_t partial_rows = plan_.partial_count * rows_a_request_;
    std::fill_n(buffers_.output.get(), problem_.rows() * d_latent, nan);
    std::fill_n(buffers_.lse.get(), problem_.rows(), nan);
    std::fill_n(buffers_.partial_output.get(), partial_rows * d_latent, nan);
    std::fill_n(buffers_.partial_lse.get(), partial_rows, nan);
    return {};
  }

  Result<void> launch(Part part) override {
    if (part != Part::combine) {
      for (auto& workspace : workspaces_) workspace.packed_request = -1;
      pool_.for_each(static_cast<int>(plan_.splits.size()), [this](int index, int worker) {
        split(plan_.splits[std::size_t(index)], workspaces_[std::size_t(worker)]);
      });
    }
    if (part != Part::split) {
      pool_.for_each(static_cast<int>(plan_.combines.size()),
                     [this](int index, int) { merge(plan_.combines[std::size_t(index)]); });
    }
    return {};
  }

  Result<std::vector<OutputRow>> output_rows(std::span<const std::int64_t> rows) override {
    std::vector<OutputRow> found;
    for (const std::int64_t row : rows) {
      if (row < 0 || row >= problem_.rows()) {
        return fail(ErrorKind::config, "output row ", row, " is not in 0..", problem_.rows() - 1);
      }
      const float* values = buffers_.output.get() + row * problem_.shape.d_latent;
      found.push_back(OutputRow{std::vector<float>(values, values + problem_.shape.d_latent),
                                buffers_.lse[std::size_t(row)]});
    }
    return found;
  }

  std::optional<OutputView> output() const override {
    return OutputView{.values = buffers_.output.get(), .lse = buffers_.lse.get()};
  }

 private:
  void split(const SplitTask& task, AttendWorkspace& workspace) {
    const std::int64_t row = task.request * rows_a_request_;
    const std::int64_t partial_row = task.partial * rows_a_request_;
    const bool whole = task.partial < 0;
    float* output = whole ? buffers_.output.get() : buffers_.partial_output.get();
    float* lse = whole ? buffers_.lse.get() : buffers_.partial_lse.get();
    const std::int64_t out_row = whole ? row : partial_row;
    attend(AttendArguments{.problem = &problem_,
                           .task = task,
                           .query = buffers_.query.get() + row * problem_.shape.d_qk(),
                           .cache = buffers_.cache.get(),
                           .output = output + out_row * problem_.shape.d_latent,
                           .lse = lse + out_row},
           workspace);
  }

  void merge(const CombineTask& task) {
    const std::int64_t row = task.request * rows_a_request_;
    const std::int64_t partial_row = task.partial_begin * rows_a_request_;
    const std::int64_t d_latent = problem_.shape.d_latent;
    combine(
        CombineArguments{.rows = static_cast<int>(rows_a_request_),
                         .d_latent = problem_.shape.d_latent,
                         .partial_count = task.partial_count,
                         .partial_output = buffers_.partial_output.get() + partial_row * d_latent,
                         .partial_lse = buffers_.partial_lse.get() + partial_row,
                         .output = buffers_.output.get() + row * d_latent,
                         .lse = buffers_.lse.get() + row});
  }

  Problem problem_;
  ThreadPool pool_;
  CpuPlan plan_;
  CpuBuffers buffers_;
  std::vector<AttendWorkspace> workspaces_;  ///< one a worker
  std::int64_t rows_a_request_ = 0;
};

}  // namespace

Result<void> mla_dense_cpu_supports(const RankProblem& shape) {
  TRY(check_family("mla_dense", Family::mla_dense, shape));
  if (shape.kv_dtype != KvDtype::bf16) {
    return fail(ErrorKind::config, "mla_dense on the CPU reads bf16 caches only, not ",
                enum_name(shape.kv_dtype));
  }
  if (shape.local_heads < 1 || shape.local_heads > 128) {
    return fail(ErrorKind::config, "mla_dense takes 1 to 128 local heads, not ", shape.local_heads);
  }
  if (shape.context >= kCpuMostTokens) {
    return fail(ErrorKind::config, "mla_dense on the CPU takes contexts of fewer than ",
                kCpuMostTokens, " tokens, not ", shape.context);
  }
  if (shape.batch < 1 || shape.query_tokens < 1 || shape.context < 0 || shape.d_latent < 1 ||
      shape.d_rope < 0) {
    return fail(ErrorKind::config, "mla_dense: batch, query tokens and d_latent must be positive");
  }
  return {};
}

Result<std::unique_ptr<BoundKernel>> bind_mla_dense_cpu(const Problem& problem,
                                                        const BindOptions& options) {
  TRY(mla_dense_cpu_supports(problem.shape));
  const int threads = options.threads > 0 ? options.threads : available_threads();
  try {
    return std::make_unique<MlaDenseCpu>(problem, threads, options.num_splits);
  } catch (const std::bad_alloc&) {
    return fail(ErrorKind::config, "not enough memory: ", memory_bytes(problem.shape) / 1e9,
                " GB are needed");
  }
}

}  // namespace headsplit::kernels
