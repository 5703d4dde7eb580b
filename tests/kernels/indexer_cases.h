#pragma once

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "kernels/dsa_indexer/indexer_kernel.h"
#include "kernels/dsa_indexer/shape.h"
#include "kernels/verify.h"

/// What tests of the indexer on both backends share.
namespace headsplit::kernels::indexer {

inline RankProblem shape_of(int heads, int top_k, int query_tokens = 1) {
  return RankProblem{.query_tokens = query_tokens,
                     .family = Family::dsa_indexer,
                     .top_k = top_k,
                     .index_heads = heads,
                     .index_dim = kDim};
}

inline Problem problem_of(RankProblem shape, std::vector<std::int32_t> lengths,
                          int page_tokens = 64, std::uint64_t seed = 1) {
  shape.batch = static_cast<int>(lengths.size());
  shape.context = std::max(1, *std::max_element(lengths.begin(), lengths.end()));
  return make_problem(shape, std::move(lengths), seed, page_tokens);
}

/// What is wrong with the lists of the last launch, or nothing: each must be exactly the best
/// tokens of the kernel's own scores, in the order of tokens, then -1; and its length must be
/// there.
inline std::string fault_of_lists(IndexerKernel& kernel, const Problem& problem) {
  for (std::int64_t row = 0; row < problem.rows(); ++row) {
    const RowResult result = kernel.row_result(row).value();
    const int request = place_of(problem, row).request;
    std::vector<std::int32_t> wanted;
    for (const std::int32_t token : best_tokens(result.scores, problem.shape.top_k)) {
      wanted.push_back(slot_of(problem, request, token));
    }
    const auto count = static_cast<std::int32_t>(wanted.size());
    wanted.resize(static_cast<std::size_t>(problem.shape.top_k), kNoToken);
    if (result.chosen != wanted) return str("row ", row, " has not the best tokens in order");
    if (kernel.chosen_count(row).value() != count) return str("row ", row, " has another length");
  }
  return "";
}

/// Poisons, launches twice and checks lists and scores.
inline std::string fault_of_launches(IndexerKernel& kernel, const Problem& problem,
                                     std::int64_t rows_max) {
  for (int launch = 0; launch < 2; ++launch) {
    kernel.poison().value();
    kernel.launch(Part::all).value();
    const std::string fault = fault_of_lists(kernel, problem);
    if (!fault.empty()) return str(fault, "; ", kernel.config().reason);
    const auto reference = make_reference(problem, rows_max, dsa_indexer_reference_rows).value();
    const auto verified = verify(kernel, problem, reference);
    if (!verified) return str(verified.error().message, "; ", kernel.config().reason);
  }
  return "";
}

}  // namespace headsplit::kernels::indexer
