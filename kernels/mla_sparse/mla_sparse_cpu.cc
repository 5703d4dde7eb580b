#include "kernels/mla_sparse/mla_sparse_cpu.h"

#include "kernels/cpu/attention.h"
#include "kernels/mla_sparse/lists.h"

namespace headsplit::kernels {

Result<void> mla_sparse_cpu_supports(const RankProblem& shape) {
  TRY(check_sparse_shape(shape));
  return attention_cpu_supports("mla_sparse", shape);
}

Result<std::unique_ptr<BoundKernel>> bind_mla_sparse_cpu(const Problem& problem,
                                                         const BindOptions& options) {
  TRY(mla_sparse_cpu_supports(problem.shape));
  return bind_attention_cpu(view_of_chosen(problem), problem, options);
}

}  // namespace headsplit::kernels
