// Partial results of an item's parts, put together by log-sum-exp:
//   lse = log sum_i exp(lse_i),  output = sum_i exp(lse_i - lse) output_i

HWY_BEFORE_NAMESPACE();
namespace headsplit::kernels::HWY_NAMESPACE {

/// output [count] = (i == 0 ? 0 : output) + weight x partial
HWY_INLINE void add_weighted(float weight, const float* partial, int count, bool first,
                             float* output) {
  const Floats floats;
  const Float factor = hn::Set(floats, weight);
  int d = 0;
  for (; d + kLanes <= count; d += kLanes) {
    const Float before = first ? hn::Zero(floats) : hn::LoadU(floats, output + d);
    hn::StoreU(hn::MulAdd(factor, hn::LoadU(floats, partial + d), before), floats, output + d);
  }
  for (; d < count; ++d) output[d] = (first ? 0 : output[d]) + weight * partial[d];
}

inline void combine_rows(const CombineArguments& in) {
  const std::int64_t rows = in.rows.rows;
  for (int row = 0; row < in.rows.rows; ++row) {
    const float* lse = in.partial_lse + row;
    float largest = kNothing;
    for (int i = 0; i < in.partial_count; ++i) largest = std::max(largest, lse[i * rows]);
    // All parts may be empty for this row; then there is nothing to weigh.
    const float reference = largest == kNothing ? 0 : largest;
    float sum = 0;
    for (int i = 0; i < in.partial_count; ++i) sum += std::exp(lse[i * rows] - reference);
    const float scale = sum > 0 ? 1 / sum : 0;
    const std::int64_t target = in.rows.row(row);
    for (int i = 0; i < in.partial_count; ++i) {
      const float weight = std::exp(lse[i * rows] - reference) * scale;
      add_weighted(weight, in.partial_output + (i * rows + row) * in.width, in.width, i == 0,
                   in.output + target * in.width);
    }
    in.lse[target] = sum > 0 ? reference + std::log(sum) : kNothing;
  }
}

}  // namespace headsplit::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
