#include "kernels/per_head/shape.h"

#include "kernels/kernel.h"

namespace headsplit::kernels {
namespace {

Result<void> check_dim(const std::string& kernel, const char* name, int dim) {
  if (dim >= kPerHeadDimMin && dim <= kPerHeadDimMax && dim % kPerHeadDimStep == 0) return {};
  return fail(ErrorKind::config, kernel, ": ", name, " ", dim, ": takes multiples of ",
              kPerHeadDimStep, " from ", kPerHeadDimMin, " to ", kPerHeadDimMax);
}

}  // namespace

Result<void> check_per_head_shape(const std::string& kernel, const RankProblem& shape) {
  TRY(check_family(kernel, Family::per_head, shape));
  if (shape.batch < 1 || shape.query_tokens < 1 || shape.context < 0 || shape.d_rope < 0) {
    return fail(ErrorKind::config, kernel, ": batch and query tokens must be positive");
  }
  if (shape.local_heads < 1 || shape.kv_heads < 1 || shape.local_heads % shape.kv_heads != 0) {
    return fail(ErrorKind::config, kernel, ": ", shape.kv_heads, " KV heads do not divide ",
                shape.local_heads, " query heads");
  }
  TRY(check_dim(kernel, "d_nope + d_rope", shape.query_width()));
  return check_dim(kernel, "d_v", shape.d_v);
}

}  // namespace headsplit::kernels
