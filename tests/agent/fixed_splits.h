#pragma once

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "agent/device.h"
#include "tp/group/rank_shard.h"

namespace headsplit::agent {

/// Values and log-sum-exps of a request's output rows after one launch of mla_dense.
inline std::vector<float> outputs_of(Device& device, const kernels::Problem& problem, int request,
                                     int fixed_splits) {
  const auto kernel = device.bind("mla_dense", problem, fixed_splits).value();
  kernel->poison().value();
  kernel->launch(kernels::Part::all).value();
  const auto rows = std::int64_t{1} * problem.shape.query_tokens * problem.shape.local_heads;
  std::vector<std::int64_t> wanted(static_cast<std::size_t>(rows));
  std::iota(wanted.begin(), wanted.end(), rows * request);
  std::vector<float> outputs;
  for (const auto& row : kernel->output_rows(wanted).value()) {
    outputs.insert(outputs.end(), row.values.begin(), row.values.end());
    outputs.push_back(row.lse);
  }
  return outputs;
}

/// Every request of a ragged batch has the same bits alone, beside one other, and among all.
inline void expect_bits_whatever_the_batch(Device& device, int heads,
                                           const std::vector<int>& fixed_splits) {
  const RankProblem shape{.local_heads = heads, .batch = 6, .query_tokens = 2, .context = 1500};
  const auto whole = kernels::make_problem(shape, {1500, 20, 700, 1300, 333, 1024}, 7);
  for (const int splits : fixed_splits) {
    for (int request = 0; request < shape.batch; ++request) {
      const auto among_all = outputs_of(device, whole, request, splits);
      for (const int ranks : {6, 3}) {
        const int batch = shape.batch / ranks;
        const auto part =
            tp::rank_shard(whole, {.dp = ranks}, request / batch, PageOrder::interleaved);
        ASSERT_EQ(part.shape.batch, batch);
        EXPECT_EQ(outputs_of(device, part, request % batch, splits), among_all)
            << heads << " heads, " << splits << " splits, request " << request << ", batch "
            << batch;
      }
    }
  }
}

}  // namespace headsplit::agent
