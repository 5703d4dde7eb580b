#include "kernels/kv_expand/shape.h"

#include "kernels/kernel.h"

namespace headsplit::kernels {

Result<void> check_kv_expand_shape(const RankProblem& shape) {
  TRY(check_family("kv_expand", Family::kv_expand, shape));
  if (shape.kv_dtype != KvDtype::bf16) {
    return fail(ErrorKind::config, "kv_expand reads bf16 caches only, not ",
                enum_name(shape.kv_dtype));
  }
  if (shape.local_heads < 1 || shape.kv_heads != shape.local_heads) {
    return fail(ErrorKind::config, "kv_expand makes K and V of each of ", shape.local_heads,
                " heads, not of ", shape.kv_heads);
  }
  if (shape.batch < 1 || shape.context < 0 || shape.d_latent < 1 || shape.d_nope < 1 ||
      shape.d_rope < 0 || shape.d_v < 1) {
    return fail(ErrorKind::config, "kv_expand: batch, d_latent, d_nope and d_v must be positive");
  }
  return {};
}

}  // namespace headsplit::kernels
