#include "kernels/cpu/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <new>

#include "kernels/cpu/attend.h"
#include "kernels/cpu/buffers.h"
#include "kernels/cpu/plan.h"

namespace headsplit::kernels {
namespace {

class AttentionCpu final : public BoundKernel {
 public:
  /// inputs: what the cache and the queries are made from.
  AttentionCpu(const Problem& problem, const Problem& inputs, int threads, int num_splits)
      : problem_(problem),
        pool_(threads),
        plan_(plan_cpu(problem_, threads, num_splits)),
        buffers_(make_cpu_buffers(inputs, plan_.partial_rows, pool_)),
        group_(problem.shape.local_heads / cpu_kv_heads(problem.shape)) {
    const AttendSizes sizes = attend_sizes(problem_.shape);
    for (int worker = 0; worker < threads; ++worker) workspaces_.emplace_back(sizes);
  }

  const Config& config() const override { return plan_.config; }

  Result<void> poison() override {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const std::int64_t width = problem_.shape.output_width();
    std::fill_n(buffers_.output.get(), problem_.rows() * width, nan);
    std::fill_n(buffers_.lse.get(), problem_.rows(), nan);
    std::fill_n(buffers_.partial_output.get(), plan_.partial_rows * width, nan);
    std::fill_n(buffers_.partial_lse.get(), plan_.partial_rows, nan);
    return {};
  }

  Result<void> launch(Part part) override {
    if (part != Part::combine) {
      for (auto& workspace : workspaces_) workspace.packed_item = -1;
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
    const int width = problem_.shape.output_width();
    std::vector<OutputRow> found;
    for (const std::int64_t row : rows) {
      if (row < 0 || row >= problem_.rows()) {
        return fail(ErrorKind::config, "output row ", row, " is not in 0..", problem_.rows() - 1);
      }
      const float* values = buffers_.output.get() + row * width;
      found.push_back(
          OutputRow{std::vector<float>(values, values + width), buffers_.lse[std::size_t(row)]});
    }
    return found;
  }

  std::optional<OutputView> output() const override {
    return OutputView{.values = buffers_.output.get(), .lse = buffers_.lse.get()};
  }

 private:
  /// The first row of an item in [batch, query_tokens, local_heads].
  std::int64_t first_row(const WorkItem& item) const {
    const std::int64_t token =
        std::int64_t{item.request} * problem_.shape.query_tokens + item.query_begin;
    return token * problem_.shape.local_heads + std::int64_t{item.kv_head} * group_;
  }

  /// Its rows there.
  RowLayout layout(const WorkItem& item) const {
    return RowLayout{.rows = group_ * (item.query_end - item.query_begin),
                     .group = group_,
                     .token_stride = problem_.shape.local_heads};
  }

  /// Where a KV head of pages [kv_heads, page_tokens, row_stride] is.
  CachedRows cached(const std::uint16_t* cache, int kv_head, int row_stride, int width) const {
    const std::int64_t head_values = std::int64_t{problem_.page_tokens} * row_stride;
    return CachedRows{.cache = cache + kv_head * head_values,
                      .page_stride = cpu_kv_heads(problem_.shape) * head_values,
                      .row_stride = row_stride,
                      .width = width};
  }

  void split(const SplitTask& task, AttendWorkspace& workspace) {
    const int key_width = problem_.shape.query_width();
    const int value_width = problem_.shape.output_width();
    const std::int64_t row = first_row(task.item);
    const RowLayout rows = layout(task.item);
    const bool whole = task.partial_row < 0;
    const std::int64_t out_row = whole ? row : task.partial_row;
    RowLayout out_rows = rows;
    if (!whole) out_rows.token_stride = rows.group;
    float* const output = whole ? buffers_.output.get() : buffers_.partial_output.get();
    float* const lse = whole ? buffers_.lse.get() : buffers_.partial_lse.get();
    const bool shared = buffers_.values == nullptr;
    const std::uint16_t* const values = shared ? buffers_.keys.get() : buffers_.values.get();
    const int kv_head = task.item.kv_head;
    attend(AttendArguments{.problem = &problem_,
                           .task = task,
                           .query_rows = rows,
                           .output_rows = out_rows,
                           .query = buffers_.query.get() + row * key_width,
                           .keys = cached(buffers_.keys.get(), kv_head, key_width, key_width),
                           .values = cached(values, kv_head, shared ? key_width : value_width,
                                            value_width),
                           .output = output + out_row * value_width,
                           .lse = lse + out_row},
           workspace);
    if (whole) apply_sinks(task.item);
  }

  void merge(const CombineTask& task) {
    const std::int64_t row = first_row(task.item);
    const int width = problem_.shape.output_width();
    combine(
        CombineArguments{.rows = layout(task.item),
                         .width = width,
                         .partial_count = task.partial_count,
                         .partial_output = buffers_.partial_output.get() + task.partial_row * width,
                         .partial_lse = buffers_.partial_lse.get() + task.partial_row,
                         .output = buffers_.output.get() + row * width,
                         .lse = buffers_.lse.get() + row});
    apply_sinks(task.item);
  }

  /// Sinks of heads make the item's outputs smaller.
  void apply_sinks(const WorkItem& item) {
    if (problem_.sinks.empty()) return;
    const int width = problem_.shape.output_width();
    const std::int64_t first = first_row(item);
    const RowLayout rows = layout(item);
    for (int i = 0; i < rows.rows; ++i) {
      const std::int64_t row = first + rows.row(i);
      const float lse = buffers_.lse[std::size_t(row)];
      if (std::isinf(lse)) continue;
      const float sink = problem_.sinks[std::size_t(row % problem_.shape.local_heads)];
      const float factor = 1 / (1 + std::exp(sink - lse));
      float* const values = buffers_.output.get() + row * width;
      for (int d = 0; d < width; ++d) values[d] *= factor;
    }
  }

  Problem problem_;
  ThreadPool pool_;
  CpuPlan plan_;
  CpuBuffers buffers_;
  std::vector<AttendWorkspace> workspaces_;  ///< one a worker
  int group_ = 1;                            ///< query heads that read one KV head
};

}  // namespace

Result<void> attention_cpu_supports(const std::string& kernel, const RankProblem& shape) {
  if (shape.kv_dtype != KvDtype::bf16) {
    return fail(ErrorKind::config, kernel, " on the CPU reads bf16 caches only, not ",
                enum_name(shape.kv_dtype));
  }
  if (shape.context >= kCpuMostTokens) {
    return fail(ErrorKind::config, kernel, " on the CPU takes contexts of fewer than ",
                kCpuMostTokens, " tokens, not ", shape.context);
  }
  if (shape.batch < 1 || shape.query_tokens < 1 || shape.context < 0 || shape.output_width() < 1 ||
      shape.query_width() < shape.d_rope || shape.d_rope < 0) {
    return fail(ErrorKind::config, kernel, ": batch, query tokens and widths must be positive");
  }
  return {};
}

Result<std::unique_ptr<BoundKernel>> bind_attention_cpu(const Problem& problem,
                                                        const BindOptions& options) {
  return bind_attention_cpu(problem, problem, options);
}

Result<std::unique_ptr<BoundKernel>> bind_attention_cpu(const Problem& problem,
                                                        const Problem& inputs,
                                                        const BindOptions& options) {
  const int threads = options.threads > 0 ? options.threads : available_threads();
  try {
    return std::make_unique<AttentionCpu>(problem, inputs, threads, options.num_splits);
  } catch (const std::bad_alloc&) {
    return fail(ErrorKind::config, "not enough memory: ", memory_bytes(problem.shape) / 1e9,
                " GB are needed");
  }
}

}  // namespace headsplit::kernels
