#include "kernels/dsa_indexer/indexer_kernel.h"

#include "kernels/dsa_indexer/shape.h"

namespace headsplit::kernels::indexer {

Result<std::vector<OutputRow>> IndexerKernel::output_rows(std::span<const std::int64_t> rows) {
  std::vector<OutputRow> found;
  for (const std::int64_t row : rows) {
    if (row < 0 || row >= problem_.rows()) {
      return fail(ErrorKind::config, "output row ", row, " is not in 0..", problem_.rows() - 1);
    }
    found.push_back(judged_row(problem_, row, TRY(row_result(row))));
  }
  return found;
}

Result<void> check_indexer_shape(const RankProblem& shape) {
  TRY(check_family("dsa_indexer", Family::dsa_indexer, shape));
  if (shape.index_dim != kDim) {
    return fail(ErrorKind::config, "dsa_indexer takes index keys of ", kDim, " values, not ",
                shape.index_dim);
  }
  if (shape.index_pool != 1) {
    return fail(ErrorKind::config, "dsa_indexer takes a key for each token, not one for ",
                shape.index_pool);
  }
  if (shape.index_heads < 1 || shape.index_heads > kHeadsMax) {
    return fail(ErrorKind::config, "dsa_indexer takes 1 to ", kHeadsMax, " index heads, not ",
                shape.index_heads);
  }
  if (shape.top_k < 1) {
    return fail(ErrorKind::config, "dsa_indexer takes a positive top_k, not ", shape.top_k);
  }
  if (shape.batch < 1 || shape.query_tokens < 1 || shape.context < 0) {
    return fail(ErrorKind::config,
                "dsa_indexer: batch and query_tokens must be positive, context not negative");
  }
  return {};
}

}  // namespace headsplit::kernels::indexer
