#include "tp/work.h"

#include <cmath>

namespace headsplit::tp {

Work operator+(const Work& left, const Work& right) {
  return {.flops = left.flops + right.flops,
          .fp8_flops = left.fp8_flops + right.fp8_flops,
          .kv_bytes = left.kv_bytes + right.kv_bytes,
          .qo_bytes = left.qo_bytes + right.qo_bytes,
          .weight_bytes = left.weight_bytes + right.weight_bytes,
          .dequant_values = left.dequant_values + right.dequant_values,
          .kv_memory_bytes = left.kv_memory_bytes + right.kv_memory_bytes};
}

double latent_row_bytes(const RankProblem& problem) {
  constexpr double kScaleBytes = 4;
  constexpr double kValuesPerScale = 128;
  if (problem.kv_dtype == KvDtype::bf16) return kBf16Bytes * problem.d_qk();
  if (problem.kv_dtype == KvDtype::fp8_tensor) return problem.d_qk();
  return problem.d_latent + kScaleBytes * std::ceil(problem.d_latent / kValuesPerScale) +
         kBf16Bytes * problem.d_rope;
}

double length_sum(const RankProblem& problem) {
  const auto context = static_cast<double>(problem.context);
  if (problem.lengths == Lengths::equal) return problem.batch * context;
  const int drawn = problem.batch > 2 ? problem.batch - 2 : problem.batch - 1;
  return context + drawn * context / 2;
}

}  // namespace headsplit::tp
