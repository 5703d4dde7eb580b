#include "kernels/per_head/per_head_cpu.h"

#include "kernels/cpu/attention.h"
#include "kernels/per_head/shape.h"

namespace headsplit::kernels {
namespace {

constexpr const char* kName = "per_head";

}  // namespace

Result<void> per_head_cpu_supports(const RankProblem& shape) {
  TRY(check_per_head_shape(kName, shape));
  return attention_cpu_supports(kName, shape);
}

Result<std::unique_ptr<BoundKernel>> bind_per_head_cpu(const Problem& problem,
                                                       const BindOptions& options) {
  TRY(per_head_cpu_supports(problem.shape));
  return bind_attention_cpu(problem, options);
}

}  // namespace headsplit::kernels
