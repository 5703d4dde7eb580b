#include "kernels/mla_sparse/lists.h"

#include <algorithm>

#include "kernels/kernel.h"

namespace headsplit::kernels {
namespace {

constexpr int kHeadsMost = 128;
constexpr int kTopKMost = 1 << 16;

/// Without lists.
Problem empty_view(const Problem& problem) {
  Problem view;
  view.shape = problem.shape;
  view.shape.batch = problem.shape.batch * problem.shape.query_tokens;
  view.shape.query_tokens = 1;
  view.shape.context = problem.shape.top_k;
  view.page_tokens = 1;
  view.softmax_scale = problem.softmax_scale;
  view.seed = problem.seed;
  view.pages_per_request = problem.shape.top_k;
  view.page_count = static_cast<std::int32_t>(problem.slot_count());
  view.sinks = problem.sinks;
  return view;
}

}  // namespace

Problem view_of_lists(const Problem& problem) {
  Problem view = empty_view(problem);
  view.lengths = problem.top_k_lengths;
  view.page_table = problem.indices;
  return view;
}

Problem view_of_chosen(const Problem& problem) {
  Problem view = empty_view(problem);
  for (int request = 0; request < problem.shape.batch; ++request) {
    for (int token = 0; token < problem.shape.query_tokens; ++token) {
      std::vector<std::int32_t> slots = problem.chosen_slots(request, token);
      view.lengths.push_back(static_cast<std::int32_t>(slots.size()));
      slots.resize(static_cast<std::size_t>(problem.shape.top_k), kUnusedPage);
      view.page_table.insert(view.page_table.end(), slots.begin(), slots.end());
    }
  }
  return view;
}

Result<void> check_sparse_shape(const RankProblem& shape) {
  TRY(check_family("mla_sparse", Family::mla_sparse, shape));
  if (shape.local_heads < 1 || shape.local_heads > kHeadsMost) {
    return fail(ErrorKind::config, "mla_sparse takes 1 to ", kHeadsMost, " local heads, not ",
                shape.local_heads);
  }
  if (shape.top_k < 1 || shape.top_k > kTopKMost) {
    return fail(ErrorKind::config, "mla_sparse takes a top_k of 1 to ", kTopKMost, ", not ",
                shape.top_k);
  }
  if (shape.batch < 1 || shape.query_tokens < 1 || shape.context < 0) {
    return fail(ErrorKind::config,
                "mla_sparse: batch and query tokens must be positive, context not negative");
  }
  return {};
}

}  // namespace headsplit::kernels
