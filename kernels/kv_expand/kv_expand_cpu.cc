#include "kernels/kv_expand/kv_expand_cpu.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "kernels/bf16.h"
#include "kernels/cpu/buffers.h"
#include "kernels/kv_expand/cpu_expand.h"
#include "kernels/kv_expand/reference.h"
#include "kernels/kv_expand/shape.h"

namespace headsplit::kernels {
namespace {

/// Pages that one packing of a head's weights serves.
constexpr int kRunPages = 8;
/// Any bf16 whose bits are all ones is a NaN.
constexpr int kNanByte = 0xFF;

using Bf16Array = AlignedArray<std::uint16_t>;

/// A page that some request uses.
struct UsedPage {
  std::int64_t page = 0;
  int slots = 0;
};

std::vector<UsedPage> used_pages(const Problem& problem) {
  std::vector<UsedPage> pages;
  for (std::size_t request = 0; request < problem.lengths.size(); ++request) {
    const std::int32_t* entry =
        &problem.page_table[request * static_cast<std::size_t>(problem.pages_per_request)];
    for (int left = problem.lengths[request]; left > 0; left -= problem.page_tokens) {
      pages.push_back({*entry++, std::min(left, problem.page_tokens)});
    }
  }
  return pages;
}

/// bf16 [heads, dims, d_latent]
template <class Weight>
Bf16Array make_weights(const Problem& problem, int dims, const Weight& weight, ThreadPool& pool) {
  const int d_latent = problem.shape.d_latent;
  const std::int64_t head_values = std::int64_t{1} * dims * d_latent;
  auto weights = make_aligned<std::uint16_t>(
      static_cast<std::size_t>(problem.shape.local_heads * head_values));
  pool.for_each(problem.shape.local_heads, [&](int head, int) {
    std::uint16_t* out = weights.get() + head * head_values;
    for (int dim = 0; dim < dims; ++dim) {
      for (int i = 0; i < d_latent; ++i) *out++ = bf16_bits(weight(problem, head, dim, i));
    }
  });
  return weights;
}

class KvExpandCpu final : public BoundKernel {
 public:
  KvExpandCpu(const Problem& problem, int threads)
      : problem_(problem),
        shape_(problem_.shape),
        d_k_(shape_.d_nope + shape_.d_rope),
        pool_(threads),
        pages_(used_pages(problem_)),
        latents_(make_latent_cache(problem_, pool_)),
        up_key_(make_weights(problem_, shape_.d_nope, up_key_weight, pool_)),
        up_value_(make_weights(problem_, shape_.d_v, up_value_weight, pool_)),
        keys_(make_aligned<std::uint16_t>(cache_values(d_k_))),
        values_(make_aligned<std::uint16_t>(cache_values(shape_.d_v))) {
    for (int worker = 0; worker < threads; ++worker) {
      workspaces_.emplace_back(shape_.d_latent, std::max(shape_.d_nope, shape_.d_v),
                               problem_.page_tokens);
    }
    const ExpandShape expand = expand_shape();
    config_ =
        Config{.tile_rows = expand.dims_at_once,
               .tile_tokens = expand.slots_at_once,
               .workers = threads,
               .reason = str("fp32 products of ", pages_.size(), " pages with W_UK and W_UV of ",
                             shape_.local_heads, " heads, in runs of ", kRunPages,
                             " pages of one head; ", "RoPE keys copied; ", expand.instructions)};
  }

  const Config& config() const override { return config_; }

  Result<void> poison() override {
    std::memset(keys_.get(), kNanByte, cache_values(d_k_) * sizeof(std::uint16_t));
    std::memset(values_.get(), kNanByte, cache_values(shape_.d_v) * sizeof(std::uint16_t));
    return {};
  }

  /// It has one part: all of it.
  Result<void> launch(Part part) override {
    if (part != Part::all) return {};
    const int runs = static_cast<int>((pages_.size() + kRunPages - 1) / kRunPages);
    pool_.for_each(runs * shape_.local_heads, [&](int index, int worker) {
      const int head = index % shape_.local_heads;
      const auto begin = std::size_t(index / shape_.local_heads) * kRunPages;
      const auto count = std::min<std::size_t>(kRunPages, pages_.size() - begin);
      expand_run(head, std::span(pages_).subspan(begin, count), workspaces_[std::size_t(worker)]);
    });
    return {};
  }

  Result<std::vector<OutputRow>> output_rows(std::span<const std::int64_t> rows) override {
    std::vector<OutputRow> found;
    for (const std::int64_t row : rows) {
      if (row < 0 || row >= problem_.rows()) {
        return fail(ErrorKind::config, "output row ", row, " is not in 0..", problem_.rows() - 1);
      }
      const ExpandedRow at = expanded_row(problem_, row);
      OutputRow output;
      const auto add = [&](const Bf16Array& cache, int width) {
        const std::uint16_t* value = cache.get() + place(at.page, at.head, at.slot) * width;
        for (int d = 0; d < width; ++d) output.values.push_back(bf16_value(*value++));
      };
      add(keys_, d_k_);
      add(values_, shape_.d_v);
      found.push_back(std::move(output));
    }
    return found;
  }

 private:
  std::size_t cache_values(int width) const {
    return static_cast<std::size_t>(place(problem_.page_count, 0, 0) * width);
  }

  /// Row of K or V [page_count, heads, page_tokens].
  std::int64_t place(std::int64_t page, int head, int slot) const {
    return (page * shape_.local_heads + head) * problem_.page_tokens + slot;
  }

  void expand_run(int head, std::span<const UsedPage> pages, ExpandWorkspace& workspace) {
    const std::int64_t up_key_values = std::int64_t{1} * shape_.d_nope * shape_.d_latent;
    const std::int64_t up_value_values = std::int64_t{1} * shape_.d_v * shape_.d_latent;
    multiply(head, pages, {up_key_.get() + head * up_key_values, shape_.d_nope},
             {keys_.get(), d_k_}, workspace);
    for (const UsedPage& page : pages) copy_rope(head, page);
    multiply(head, pages, {up_value_.get() + head * up_value_values, shape_.d_v},
             {values_.get(), shape_.d_v}, workspace);
  }

  /// One matrix of a head with each page.  cache: where the products go, from its first row on.
  void multiply(int head, std::span<const UsedPage> pages, const ExpandMatrix& matrix,
                const ExpandOutput& cache, ExpandWorkspace& workspace) {
    pack_weights(matrix, shape_.d_latent, workspace);
    for (const UsedPage& page : pages) {
      const ExpandPage latents{latents_.get() + latent_row(page.page) * shape_.d_qk(),
                               shape_.d_qk(), page.slots};
      const ExpandOutput rows{cache.rows + place(page.page, head, 0) * cache.row_stride,
                              cache.row_stride};
      expand_page(matrix, shape_.d_latent, latents, rows, workspace);
    }
  }

  std::int64_t latent_row(std::int64_t page) const { return page * problem_.page_tokens; }

  void copy_rope(int head, const UsedPage& page) {
    for (int slot = 0; slot < page.slots; ++slot) {
      const std::uint16_t* latent =
          latents_.get() + (latent_row(page.page) + slot) * shape_.d_qk() + shape_.d_latent;
      std::uint16_t* key = keys_.get() + place(page.page, head, slot) * d_k_ + shape_.d_nope;
      std::copy_n(latent, shape_.d_rope, key);
    }
  }

  Problem problem_;
  RankProblem shape_;
  int d_k_ = 0;
  ThreadPool pool_;
  std::vector<UsedPage> pages_;
  Bf16Array latents_;   ///< [page_count, page_tokens, d_qk]
  Bf16Array up_key_;    ///< [heads, d_nope, d_latent]
  Bf16Array up_value_;  ///< [heads, d_v, d_latent]
  Bf16Array keys_;      ///< [page_count, heads, page_tokens, d_k]
  Bf16Array values_;    ///< [page_count, heads, page_tokens, d_v]
  std::vector<ExpandWorkspace> workspaces_;
  Config config_;
};

}  // namespace

Result<std::unique_ptr<BoundKernel>> bind_kv_expand_cpu(const Problem& problem,
                                                        const BindOptions& options) {
  TRY(check_kv_expand_shape(problem.shape));
  const int threads = options.threads > 0 ? options.threads : available_threads();
  try {
    return std::make_unique<KvExpandCpu>(problem, threads);
  } catch (const std::bad_alloc&) {
    return fail(ErrorKind::config, "not enough memory: ", memory_bytes(problem.shape) / 1e9,
                " GB are needed");
  }
}

}  // namespace headsplit::kernels
