#include "kernels/mla_sparse/mla_sparse_cuda.h"

#include "kernels/mla_dense/bound_split.h"
#include "kernels/mla_dense/split_choice.h"
#include "kernels/mla_sparse/lists.h"

namespace headsplit::kernels {

Result<void> mla_sparse_cuda_supports(const RankProblem& shape) {
  TRY(check_sparse_shape(shape));
  if (dense::split_kernels_of(shape).empty()) return dense::no_such_kernel(shape);
  return {};
}

Result<std::unique_ptr<BoundKernel>> bind_mla_sparse_cuda(const Problem& problem,
                                                          const BindOptions& options) {
  TRY(mla_sparse_cuda_supports(problem.shape));
  return dense::bind_split(view_of_lists(problem), problem, options);
}

}  // namespace headsplit::kernels
