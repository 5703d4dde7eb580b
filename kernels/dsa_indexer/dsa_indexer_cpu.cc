#include "kernels/dsa_indexer/dsa_indexer_cpu.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>

#include "kernels/cpu/thread_pool.h"
#include "kernels/dsa_indexer/cpu_scores.h"
#include "kernels/dsa_indexer/stored_values.h"

namespace headsplit::kernels {
namespace indexer {
namespace {

using std::size_t;

/// Pages that one packing of a request's queries serves.
constexpr int kRunPages = 16;

/// Neighbouring pages of a request.
struct Run {
  int request = 0;
  int first_page = 0;
};

std::vector<Run> runs_of(const Problem& problem) {
  std::vector<Run> runs;
  for (int request = 0; request < problem.shape.batch; ++request) {
    const int run_tokens = kRunPages * problem.page_tokens;
    for (int token = 0; token < problem.lengths[size_t(request)]; token += run_tokens) {
      runs.push_back({request, token / problem.page_tokens});
    }
  }
  return runs;
}

class DsaIndexerCpu final : public IndexerKernel {
 public:
  DsaIndexerCpu(const Problem& problem, int threads)
      : IndexerKernel(problem),
        shape_(problem_.shape),
        pool_(threads),
        runs_(runs_of(problem_)),
        stride_(std::max<std::int64_t>(1, shape_.context)),
        query_(make_aligned<std::uint8_t>(heads_count() * kDim)),
        weights_(make_aligned<float>(heads_count())),
        cache_(make_aligned<std::uint8_t>(size_t(page_bytes() * problem_.page_count))),
        scores_(make_aligned<float>(size_t(problem_.rows() * stride_))),
        chosen_(size_t(problem_.rows() * shape_.top_k)),
        counts_(size_t(problem_.rows())) {
    for (int worker = 0; worker < threads; ++worker) {
      workspaces_.emplace_back(shape_.index_heads, shape_.query_tokens, problem_.page_tokens);
    }
    make_queries();
    make_cache();
    config_ = {
        .tile_rows = shape_.index_heads * shape_.query_tokens,
        .tile_tokens = problem_.page_tokens,
        .workers = threads,
        .reason = str("fp32 scores of ", runs_.size(), " runs of ", kRunPages,
                      " pages, then an exact selection of each row; ", score_instructions())};
  }

  Result<void> poison() override {
    std::fill_n(scores_.get(), problem_.rows() * stride_, std::numeric_limits<float>::quiet_NaN());
    // No slot and no number of tokens is as large: -1 would be legal.
    std::fill(chosen_.begin(), chosen_.end(), std::numeric_limits<std::int32_t>::max());
    std::fill(counts_.begin(), counts_.end(), std::numeric_limits<std::int32_t>::max());
    return {};
  }

  Result<void> launch(Part part) override {
    if (part != Part::combine) {
      pool_.for_each(static_cast<int>(runs_.size()), [&](int index, int worker) {
        score(runs_[size_t(index)], workspaces_[size_t(worker)]);
      });
    }
    if (part != Part::split) {
      pool_.for_each(static_cast<int>(problem_.rows()), [&](int row, int) { select(row); });
    }
    return {};
  }

  Result<RowResult> row_result(std::int64_t row) override {
    const float* const scores = scores_.get() + row * stride_;
    const auto chosen = chosen_.begin() + row * shape_.top_k;
    return RowResult{.scores = {scores, scores + place_of(problem_, row).tokens},
                     .chosen = {chosen, chosen + shape_.top_k}};
  }

  Result<std::int32_t> chosen_count(std::int64_t row) override { return counts_[size_t(row)]; }

 private:
  size_t heads_count() const { return size_t(problem_.rows() * shape_.index_heads); }
  std::int64_t page_bytes() const { return std::int64_t{problem_.page_tokens} * kKeyBytes; }

  void make_queries() {
    const std::int64_t first =
        std::int64_t{problem_.source.first_request} * shape_.query_tokens * shape_.index_heads;
    const auto count = static_cast<std::int64_t>(heads_count());
    const float unit = weight_unit(shape_.index_heads);
    for (std::int64_t i = 0; i < count; ++i) {
      weights_[size_t(i)] = stored_weight(problem_.seed, first + i, unit);
    }
    for (std::int64_t i = 0; i < count * kDim; ++i) {
      query_[size_t(i)] = stored_query(problem_.seed, first * kDim + i);
    }
  }

  /// What no request uses stays NaN.
  void make_cache() {
    std::memset(cache_.get(), 0xFF, size_t(page_bytes() * problem_.page_count));
    pool_.for_each(static_cast<int>(runs_.size()), [&](int index, int) {
      for_each_page(runs_[size_t(index)], [&](std::int64_t page, int, int slots) {
        std::uint8_t* const bytes = cache_.get() + page * page_bytes();
        for (int slot = 0; slot < slots; ++slot) {
          const std::int64_t whole = problem_.source_page(page) * problem_.page_tokens + slot;
          const float scale = stored_scale(problem_.seed, whole);
          for (int d = 0; d < kDim; ++d) {
            bytes[key_at(slot) + d] = stored_key(problem_.seed, whole, d, scale);
          }
          std::memcpy(bytes + scale_at(problem_.page_tokens, slot), &scale, sizeof scale);
        }
      });
    });
  }

  /// body(page, first token, slots in use)
  template <class Body>
  void for_each_page(const Run& run, const Body& body) const {
    const int length = problem_.lengths[size_t(run.request)];
    const std::int32_t* const pages =
        &problem_.page_table[size_t(run.request) * size_t(problem_.pages_per_request)];
    for (int i = run.first_page; i < run.first_page + kRunPages; ++i) {
      const int token = i * problem_.page_tokens;
      if (token >= length) return;
      body(std::int64_t{pages[i]}, token, std::min(problem_.page_tokens, length - token));
    }
  }

  void score(const Run& run, ScoreWorkspace& workspace) {
    const std::int64_t row = std::int64_t{run.request} * shape_.query_tokens;
    const ScoreQueries queries{.query = query_.get() + row * shape_.index_heads * kDim,
                               .weights = weights_.get() + row * shape_.index_heads,
                               .heads = shape_.index_heads,
                               .query_tokens = shape_.query_tokens};
    pack_queries(queries, workspace);
    for_each_page(run, [&](std::int64_t page, int token, int slots) {
      const std::uint8_t* const bytes = cache_.get() + page * page_bytes();
      const auto* const scales =
          reinterpret_cast<const float*>(bytes + scale_at(problem_.page_tokens, 0));
      score_page(queries, {.keys = bytes, .scales = scales, .slots = slots},
                 scores_.get() + row * stride_ + token, stride_, workspace);
    });
  }

  void select(std::int64_t row) {
    const RowPlace place = place_of(problem_, row);
    const std::span<const float> scores(scores_.get() + row * stride_, size_t(place.tokens));
    std::int32_t* const list = chosen_.data() + row * shape_.top_k;
    std::int32_t* out = list;
    for (const std::int32_t token : best_tokens(scores, shape_.top_k)) {
      *out++ = slot_of(problem_, place.request, token);
    }
    counts_[size_t(row)] = static_cast<std::int32_t>(out - list);
    std::fill(out, list + shape_.top_k, kNoToken);
  }

  RankProblem shape_;
  ThreadPool pool_;
  std::vector<Run> runs_;
  std::int64_t stride_;  ///< floats from one row of scores to the next
  AlignedArray<std::uint8_t> query_;
  AlignedArray<float> weights_;
  AlignedArray<std::uint8_t> cache_;
  AlignedArray<float> scores_;
  std::vector<std::int32_t> chosen_;
  std::vector<std::int32_t> counts_;
  std::vector<ScoreWorkspace> workspaces_;
};

}  // namespace

Result<std::unique_ptr<IndexerKernel>> bind_cpu(const Problem& problem,
                                                const BindOptions& options) {
  TRY(dsa_indexer_cpu_supports(problem.shape));
  const int threads = options.threads > 0 ? options.threads : available_threads();
  try {
    return std::make_unique<DsaIndexerCpu>(problem, threads);
  } catch (const std::bad_alloc&) {
    return fail(ErrorKind::config, "dsa_indexer: not enough memory");
  }
}

}  // namespace indexer

Result<void> dsa_indexer_cpu_supports(const RankProblem& shape) {
  return indexer::check_indexer_shape(shape);
}

Result<std::unique_ptr<BoundKernel>> bind_dsa_indexer_cpu(const Problem& problem,
                                                          const BindOptions& options) {
  return TRY(indexer::bind_cpu(problem, options));
}

}  // namespace headsplit::kernels
