#pragma once

#include "kernels/problem.h"

namespace headsplit::kernels {

/// The same attention as a problem in which every query token is a request of its own with one
/// query token: its pages have one token each, and its row of the page table is its index list,
/// with all entries as they are.  batch: batch x query_tokens of the problem; the order of the
/// output rows stays.  What is planned and launched is this; the cache is made from the problem.
Problem view_of_lists(const Problem& problem);

/// The same, of each list the slots that count alone.
Problem view_of_chosen(const Problem& problem);

/// What mla_sparse asks of a shape on any backend.
/// Fails: config (another family; heads, top_k, batch or query tokens out of range).
Result<void> check_sparse_shape(const RankProblem& shape);

}  // namespace headsplit::kernels
