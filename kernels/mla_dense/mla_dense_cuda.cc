#include "kernels/mla_dense/mla_dense_cuda.h"

#include "kernels/mla_dense/bound_split.h"
#include "kernels/mla_dense/split_choice.h"
#include "kernels/split/sequences.h"

namespace headsplit::kernels {
namespace {

using namespace dense;

constexpr int kQueryTokensMax = 256;

Result<void> check_shape(const RankProblem& shape, const std::string& name, Arithmetic arithmetic) {
  TRY(check_family(name, Family::mla_dense, shape));
  if (shape.local_heads < 1 || shape.local_heads > 128) {
    return fail(ErrorKind::config, name, " takes 1 to 128 local heads, not ", shape.local_heads);
  }
  if (shape.query_tokens < 1 || shape.query_tokens > kQueryTokensMax) {
    return fail(ErrorKind::config, name, " on CUDA takes 1 to ", kQueryTokensMax,
                " query tokens, not ", shape.query_tokens);
  }
  if (shape.batch < 1 || shape.context < 0) {
    return fail(ErrorKind::config, name, ": batch must be positive, context not negative");
  }
  if (split_kernels_of(shape, arithmetic).empty()) return no_such_kernel(shape, arithmetic);
  return {};
}

}  // namespace

Result<void> mla_dense_cuda_supports(const RankProblem& shape) {
  return check_shape(shape, "mla_dense", Arithmetic::stored);
}

Result<std::unique_ptr<BoundKernel>> bind_mla_dense_cuda(const Problem& problem,
                                                         const BindOptions& options) {
  TRY(mla_dense_cuda_supports(problem.shape));
  TRY(split::check_page_tokens("mla_dense on CUDA takes", problem.page_tokens));
  return bind_split(problem, problem, options);
}

Result<void> mla_dense_fp8_mma_supports(const RankProblem& shape) {
  return check_shape(shape, "mla_dense_fp8_mma", Arithmetic::e4m3);
}

Result<std::unique_ptr<BoundKernel>> bind_mla_dense_fp8_mma(const Problem& problem,
                                                            const BindOptions& options) {
  TRY(mla_dense_fp8_mma_supports(problem.shape));
  TRY(split::check_page_tokens("mla_dense_fp8_mma takes", problem.page_tokens));
  return bind_split(problem, problem, options, Arithmetic::e4m3);
}

}  // namespace headsplit::kernels
