#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/problem.h"
#include "kernels/random_value.h"

namespace headsplit::kernels {

/// Sizes of a problem of mla_sparse, DeepSeek-V3.2's widths.
struct SparseSizes {
  int heads = 16;
  int batch = 2;
  int query_tokens = 1;
  std::int64_t context = 600;
  int top_k = 128;
  KvDtype kv_dtype = KvDtype::bf16;
  Lengths lengths = Lengths::equal;
};

inline RankProblem sparse_shape(const SparseSizes& sizes) {
  return RankProblem{.local_heads = sizes.heads,
                     .batch = sizes.batch,
                     .query_tokens = sizes.query_tokens,
                     .context = sizes.context,
                     .kv_dtype = sizes.kv_dtype,
                     .lengths = sizes.lengths,
                     .family = Family::mla_sparse,
                     .top_k = sizes.top_k};
}

inline Problem sparse_problem(const SparseSizes& sizes, std::uint64_t seed = 3) {
  return make_problem(sparse_shape(sizes), seed);
}

/// Entries that are no slots, of every kind, spread over the lists: about one of `of`.
inline void spoil(Problem& problem, int of) {
  const auto past_the_end = static_cast<std::int32_t>(problem.slot_count());
  const std::int32_t bad[] = {-1, past_the_end, 2'147'483'647, -2'147'483'647 - 1, -7};
  for (std::size_t i = 0; i < problem.indices.size(); ++i) {
    const std::uint64_t bits = random_bits(problem.seed, Tensor::index, ~std::uint64_t{i});
    if (bits % static_cast<std::uint64_t>(of) == 0) problem.indices[i] = bad[bits / 64 % 5];
  }
}

}  // namespace headsplit::kernels
