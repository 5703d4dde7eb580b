#include "kernels/mla_dense/mla_dense_cpu.h"

#include "kernels/cpu/attention.h"

namespace headsplit::kernels {

Result<void> mla_dense_cpu_supports(const RankProblem& shape) {
  TRY(check_family("mla_dense", Family::mla_dense, shape));
  if (shape.local_heads < 1 || shape.local_heads > 128) {
    return fail(ErrorKind::config, "mla_dense takes 1 to 128 local heads, not ", shape.local_heads);
  }
  return attention_cpu_supports("mla_dense", shape);
}

Result<std::unique_ptr<BoundKernel>> bind_mla_dense_cpu(const Problem& problem,
                                                        const BindOptions& options) {
  TRY(mla_dense_cpu_supports(problem.shape));
  return bind_attention_cpu(problem, options);
}

}  // namespace headsplit::kernels
