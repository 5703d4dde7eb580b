#include "kernels/reference_cuda.h"

#include <algorithm>

#include "kernels/device/buffer.h"
#include "kernels/mla_sparse/reference.h"
#include "kernels/per_head/reference.h"
#include "kernels/reference_kernels.h"

namespace headsplit::kernels {
namespace {

/// What the sums of chunks may take of the device's memory at once, unless one row needs more.
constexpr std::int64_t kPartBytesMax = std::int64_t{64} << 20;

std::vector<ReferenceTask> tasks_of(const Problem& problem, std::span<const std::int64_t> rows) {
  std::vector<ReferenceTask> tasks;
  for (const std::int64_t row : rows) {
    const int request = problem.request_of(row);
    const auto token = static_cast<int>(row / problem.shape.local_heads %
                                        std::int64_t{problem.shape.query_tokens});
    ReferenceTask task{.row = problem.source_row(row),
                       .first_page = std::int64_t{request} * problem.pages_per_request,
                       .tokens = problem.attended(request, token)};
    if (problem.shape.family == Family::per_head) {
      task.kv_head = problem.source_kv_head(kv_head_of(problem, row));
    }
    tasks.push_back(task);
  }
  return tasks;
}

/// Of mla_sparse: pages of one token each, the slots that count of each row's list.
std::vector<std::int32_t> fill_sparse_tasks(const Problem& problem,
                                            std::span<const std::int64_t> rows,
                                            std::vector<ReferenceTask>& tasks) {
  std::vector<std::int32_t> pages;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto token = static_cast<int>(rows[i] / problem.shape.local_heads %
                                        std::int64_t{problem.shape.query_tokens});
    const auto slots = problem.chosen_slots(problem.request_of(rows[i]), token);
    tasks[i].first_page = static_cast<std::int64_t>(pages.size());
    tasks[i].tokens = static_cast<std::int32_t>(slots.size());
    pages.insert(pages.end(), slots.begin(), slots.end());
  }
  return pages;
}

/// The pages whose values a request's pages have: a shard's are those of the whole problem.
std::vector<std::int32_t> source_pages(const Problem& problem) {
  std::vector<std::int32_t> pages = problem.page_table;
  for (std::int32_t& page : pages) {
    if (page != kUnusedPage) page = static_cast<std::int32_t>(problem.source_page(page));
  }
  return pages;
}

/// Device memory for the tasks that are computed at once.
struct Scratch {
  DeviceBuffer<std::int32_t> page_table;
  DeviceBuffer<ReferenceTask> tasks;
  DeviceBuffer<double> scores, lse, parts, values;
};

Result<void> append(const Scratch& scratch, std::int64_t count, std::int64_t width,
                    cudaStream_t stream, std::vector<ReferenceRow>& found) {
  std::vector<double> values(static_cast<std::size_t>(count * width));
  std::vector<double> lse(static_cast<std::size_t>(count));
  CUDA_TRY(cudaMemcpyAsync(values.data(), scratch.values.data(), values.size() * sizeof(double),
                           cudaMemcpyDeviceToHost, stream));
  CUDA_TRY(cudaMemcpyAsync(lse.data(), scratch.lse.data(), lse.size() * sizeof(double),
                           cudaMemcpyDeviceToHost, stream));
  CUDA_TRY(cudaStreamSynchronize(stream));
  for (std::int64_t i = 0; i < count; ++i) {
    const auto first = values.begin() + i * width;
    found.push_back({{first, first + width}, lse[static_cast<std::size_t>(i)]});
  }
  return {};
}

ReferenceArguments arguments_of(const Problem& problem) {
  const RankProblem& shape = problem.shape;
  const int whole_kv_heads = problem.source.heads == 0 ? shape.kv_heads : problem.source.kv_heads;
  return {.seed = problem.seed,
          .softmax_scale = problem.softmax_scale,
          .tokens_max = 1,
          .page_tokens = shape.family == Family::mla_sparse ? 1 : problem.page_tokens,
          .query_width = shape.query_width(),
          .output_width = shape.output_width(),
          .kv_heads = shape.family == Family::per_head ? whole_kv_heads : 0,
          .eight_bits = shape.kv_dtype == KvDtype::fp8,
          .one_scale = shape.kv_dtype == KvDtype::fp8_tensor};
}

}  // namespace

Result<std::vector<ReferenceRow>> reference_rows_cuda(const Problem& problem,
                                                      std::span<const std::int64_t> rows,
                                                      cudaStream_t stream, DevicePool* pool) {
  const Family family = problem.shape.family;
  if (family == Family::kv_expand || family == Family::dsa_indexer) {
    return reference_rows(problem, rows);
  }
  std::vector<ReferenceRow> found;
  if (rows.empty()) return found;
  const bool sparse = problem.shape.family == Family::mla_sparse;
  std::vector<ReferenceTask> tasks = tasks_of(problem, rows);
  const std::vector<std::int32_t> pages =
      sparse ? fill_sparse_tasks(problem, rows, tasks) : source_pages(problem);
  ReferenceArguments arguments = arguments_of(problem);
  for (const auto& task : tasks) arguments.tokens_max = std::max(arguments.tokens_max, task.tokens);
  const std::int64_t width = arguments.output_width;
  const std::int64_t part_values = arguments.chunks() * width;
  const std::int64_t at_once =
      std::clamp<std::int64_t>(kPartBytesMax / (part_values * std::int64_t{sizeof(double)}), 1,
                               static_cast<std::int64_t>(tasks.size()));
  Scratch scratch;
  scratch.page_table = TRY(DeviceBuffer<std::int32_t>::copy_of(pages, stream, pool));
  scratch.tasks = TRY(DeviceBuffer<ReferenceTask>::copy_of(tasks, stream, pool));
  scratch.scores = TRY(DeviceBuffer<double>::make(at_once * arguments.tokens_max, pool));
  scratch.lse = TRY(DeviceBuffer<double>::make(at_once, pool));
  scratch.parts = TRY(DeviceBuffer<double>::make(at_once * part_values, pool));
  scratch.values = TRY(DeviceBuffer<double>::make(at_once * width, pool));
  arguments.page_table = scratch.page_table.data();
  arguments.scores = scratch.scores.data();
  arguments.lse = scratch.lse.data();
  arguments.parts = scratch.parts.data();
  arguments.values = scratch.values.data();
  for (std::int64_t begin = 0; begin < scratch.tasks.count(); begin += at_once) {
    const std::int64_t count = std::min(at_once, scratch.tasks.count() - begin);
    arguments.tasks = scratch.tasks.data() + begin;
    arguments.task_count = static_cast<std::int32_t>(count);
    CUDA_TRY(enqueue_reference(arguments, stream));
    TRY(append(scratch, count, width, stream, found));
  }
  if (!sparse) return found;
  for (std::size_t i = 0; i < rows.size(); ++i) apply_sink(problem, rows[i], found[i]);
  return found;
}

}  // namespace headsplit::kernels
