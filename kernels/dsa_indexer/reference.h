#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/kernel.h"
#include "kernels/reference.h"

/// The indexer in fp64, and the judgement of what a kernel chose:
///   score_tj = (sum_h w_th x relu(q_th . k_j)) x scale_j
/// over the tokens j that query token t attends to; chosen are the top_k largest, of equal ones the
/// earlier.
namespace headsplit::kernels::indexer {

/// Where an output row is: rows are [batch, query_tokens].
struct RowPlace {
  int request = 0;
  int query_token = 0;
  int tokens = 0;  ///< that it attends to
};
RowPlace place_of(const Problem& problem, std::int64_t row);

/// A row's queries and weights in fp64.
class RowQuery {
 public:
  RowQuery(const Problem& problem, std::int64_t row);

  /// Score of one token of the row's request.
  double score(int token) const;

 private:
  const Problem& problem_;
  int request_;
  int heads_;
  std::vector<double> query_;  ///< [heads, 128]
  std::vector<double> weights_;
};

/// The slot of the cache that a token of a request is in.
std::int32_t slot_of(const Problem& problem, int request, int token);

/// Positions of the top_k largest scores, ascending; of equal scores the earlier.
std::vector<std::int32_t> best_tokens(std::span<const float> scores, int top_k);

/// values: the top_k largest scores of each row, downwards; -infinity past the last token.  LSE 0.
Result<std::vector<ReferenceRow>> dsa_indexer_reference_rows(const Problem& problem,
                                                             std::span<const std::int64_t> rows);

/// What a launch made of one row.
struct RowResult {
  std::vector<float> scores;         ///< of the tokens that the row attends to
  std::vector<std::int32_t> chosen;  ///< [top_k], slots
};

/// That as an output row: the fp64 scores of what was chosen, downwards; NaN for a slot that is
/// repeated or none of the row's tokens.  lse: 0 where the choice is exactly the best_tokens of the
/// kernel's scores, and a sample of these agrees with fp64; NaN otherwise.
OutputRow judged_row(const Problem& problem, std::int64_t row, const RowResult& result);

}  // namespace headsplit::kernels::indexer
