#include "kernels/mla_dense/mla_dense_cuda.h"

#include "kernels/mla_dense/bound_split.h"
#include "kernels/mla_dense/split_choice.h"
#include "kernels/split/sequences.h"

namespace headsplit::kernels {
namespace {

using namespace dense;

constexpr int kQueryTokensMax = 256;

}  // namespace

Result<void> mla_dense_cuda_supports(const RankProblem& shape) {
  TRY(check_family("mla_dense", Family::mla_dense, shape));
  if (shape.local_heads < 1 || shape.local_heads > 128) {
    return fail(ErrorKind::config, "mla_dense takes 1 to 128 local heads, not ", shape.local_heads);
  }
  if (shape.query_tokens < 1 || shape.query_tokens > kQueryTokensMax) {
    return fail(ErrorKind::config, "mla_dense on CUDA takes 1 to ", kQueryTokensMax,
                " query tokens, not ", shape.query_tokens);
  }
  if (shape.batch < 1 || shape.context < 0) {
    return fail(ErrorKind::config, "mla_dense: batch must be positive, context not negative");
  }
  if (split_kernels_of(shape).empty()) return no_such_kernel(shape);
  return {};
}

Result<std::unique_ptr<BoundKernel>> bind_mla_dense_cuda(const Problem& problem,
                                                         const BindOptions& options) {
  TRY(mla_dense_cuda_supports(problem.shape));
  TRY(split::check_page_tokens("mla_dense on CUDA takes", problem.page_tokens));
  return bind_split(problem, problem, options);
}

}  // namespace headsplit::kernels
