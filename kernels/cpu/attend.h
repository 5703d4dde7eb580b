#pragma once

#include <cstdint>

#include "kernels/cpu/aligned.h"
#include "kernels/cpu/plan.h"
#include "kernels/problem.h"

namespace headsplit::kernels {

/// Cached keys or values of one KV head of one request.
struct CachedRows {
  const std::uint16_t* cache = nullptr;  ///< bf16: this head's rows of page 0
  std::int64_t page_stride = 0;          ///< values from one page to the next
  int row_stride = 0;                    ///< values from one token of a page to the next
  int width = 0;                         ///< values of a row that are read
};

/// Rows of several query tokens: `group` neighbouring heads of each.
struct RowLayout {
  int rows = 0;
  int group = 1;
  std::int64_t token_stride = 0;  ///< rows from one query token to the next

  std::int64_t row(int index) const { return index / group * token_stride + index % group; }
  /// Whether the rows follow each other.
  bool dense() const { return token_stride == group; }
};

/// Inputs and output of one split task.
struct AttendArguments {
  const Problem* problem = nullptr;
  SplitTask task;
  RowLayout query_rows;
  RowLayout output_rows;                 ///< the same rows, where they are written
  const std::uint16_t* query = nullptr;  ///< bf16, the first row: [row, keys.width]
  CachedRows keys;
  CachedRows values;
  float* output = nullptr;  ///< the first row: [row, values.width]
  float* lse = nullptr;     ///< [row]

  int rows() const { return query_rows.rows; }
  /// The values are the first part of the keys.
  bool shared() const { return keys.cache == values.cache; }
  const std::uint16_t* query_row(int row) const { return query + query_rows.row(row) * keys.width; }
  /// The cached token of this request.
  const std::uint16_t* cached_row(const CachedRows& rows, int token) const {
    const int page_tokens = problem->page_tokens;
    const std::int64_t entry =
        std::int64_t{task.item.request} * problem->pages_per_request + token / page_tokens;
    const std::int64_t page = problem->page_table[static_cast<std::size_t>(entry)];
    return rows.cache + page * rows.page_stride +
           std::int64_t{token % page_tokens} * rows.row_stride;
  }
};

/// Sizes of a problem's work items.
struct AttendSizes {
  int rows_max = 0;  ///< query rows of the largest item
  int key_width = 0;
  int value_width = 0;
  bool shared = false;  ///< values are the first part of keys
};
AttendSizes attend_sizes(const RankProblem& shape);

/// What one worker keeps between tasks: fp32, aligned and padded for the widest vectors.
struct AttendWorkspace {
  explicit AttendWorkspace(const AttendSizes& sizes);

  int padded_rows = 0;          ///< query rows of an item, rounded up to whole panels
  std::int64_t key_stride;      ///< floats from one token of `keys` to the next
  std::int64_t value_stride;    ///< likewise; of the shared tile, key_stride
  std::int64_t output_stride;   ///< floats of `output` for each row
  AlignedArray<float> query;    ///< the item's query rows, packed for the inner loops
  AlignedArray<float> keys;     ///< one tile of the cache
  AlignedArray<float> values;   ///< likewise; none where keys have them
  AlignedArray<float> scores;   ///< scores of one tile, then softmax weights
  AlignedArray<float> output;   ///< sums of weighted values
  AlignedArray<float> largest;  ///< of each row, the largest score up to here
  AlignedArray<float> sum;      ///< of each row, the sum of weights up to here
  AlignedArray<float> end;      ///< of each row, the first token it does not attend to
  int packed_item = -1;         ///< whose query rows `query` holds

  const float* value_tile() const { return values ? values.get() : keys.get(); }
};

/// Attention of all rows of one item over the tokens of one task.
void attend(const AttendArguments& arguments, AttendWorkspace& workspace);

/// Partials of one item and where their combination goes.
struct CombineArguments {
  RowLayout rows;  ///< of the output
  int width = 0;
  int partial_count = 0;
  const float* partial_output = nullptr;  ///< [partial_count, rows, width]
  const float* partial_lse = nullptr;     ///< [partial_count, rows]
  float* output = nullptr;                ///< the first row: [row, width]
  float* lse = nullptr;                   ///< [row]
};

/// Weigh each partial by exp(its LSE - the LSE of all).
void combine(const CombineArguments& arguments);

/// How `attend` treats items of such sizes on this machine.
struct AttendShape {
  int rows_at_once = 0;
  int tokens_at_once = 0;
  int padded_rows = 0;  ///< query rows of the largest item computed for nothing
  const char* loops = "";
  const char* instructions = "";
};
AttendShape attend_shape(const AttendSizes& sizes);

/// Contexts must be shorter: tokens are counted in fp32 when rows are masked.
constexpr std::int64_t kCpuMostTokens = std::int64_t{1} << 24;

}  // namespace headsplit::kernels
