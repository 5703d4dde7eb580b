// Few query rows: memory-bound.  The cache is read as it is stored, with no fp32 copy.  A group of
// tokens is small enough to stay close between its two uses, scores and output, and the next group
// is fetched meanwhile.

HWY_BEFORE_NAMESPACE();
namespace headsplit::kernels::HWY_NAMESPACE {

/// Up to here these loops are faster (docs/mla-dense-cpu.md).
constexpr int kFewRows = kManyRegisters ? 24 : 16;

/// They take whole vectors of bf16 only.
HWY_INLINE bool takes_few_path(const RankProblem& shape) {
  return shape.query_tokens * shape.local_heads <= kFewRows && shape.d_qk() % kPairs == 0 &&
         shape.d_latent % kPairs == 0;
}

/// Rows first_row .. first_row + kRows of the request against one group.
template <int kRows>
HWY_INLINE void attend_group(const AttendArguments& in, AttendWorkspace& work,
                             const TokenGroup& group, int first_token, int first_row) {
  const RankProblem& shape = in.problem->shape;
  float* output = work.output.get() + std::int64_t{first_row} * shape.d_latent;
  float* scores = work.scores.get();
  score_group<kRows>(group, work.query.get() + std::int64_t{first_row} * shape.d_qk(), shape,
                     scores);
  float rescale[kRows];
  for (int row = 0; row < kRows; ++row) {
    const int attended = static_cast<int>(work.end[std::size_t(first_row + row)]);
    const int end = std::min(attended, in.task.token_end);
    rescale[row] = softmax_group(scores + row * kGroupTokens, end - first_token,
                                 work.largest[std::size_t(first_row + row)],
                                 work.sum[std::size_t(first_row + row)]);
  }
  accumulate_group<kRows>(group, scores, rescale, shape.d_latent, output);
}

HWY_INLINE void pack_few(const AttendArguments& in, AttendWorkspace& work) {
  const Floats floats;
  const std::int64_t count = std::int64_t{1} * in.rows() * in.problem->shape.d_qk();
  const Float scale = hn::Set(floats, in.problem->softmax_scale);
  for (std::int64_t i = 0; i < count; i += kPairs) {
    const EvenOdd q = load_bf16_pairs(in.query + i);
    hn::Store(hn::Mul(q.even, scale), floats, work.query.get() + i);
    hn::Store(hn::Mul(q.odd, scale), floats, work.query.get() + i + kLanes);
  }
}

HWY_INLINE void finish_few(const AttendArguments& in, const AttendWorkspace& work) {
  const Floats floats;
  const int d_latent = in.problem->shape.d_latent;
  for (int row = 0; row < in.rows(); ++row) {
    const float sum = work.sum[std::size_t(row)];
    const Float factor = hn::Set(floats, sum > 0 ? 1 / sum : 0);
    for (int d = 0; d < d_latent; d += kPairs) {
      const float* from = work.output.get() + std::int64_t{row} * d_latent + d;
      hn::StoreInterleaved2(hn::Mul(hn::Load(floats, from), factor),
                            hn::Mul(hn::Load(floats, from + kLanes), factor), floats,
                            in.output + std::int64_t{row} * d_latent + d);
    }
  }
}

/// The rows from first_row on: fewer than kMostRows.
HWY_INLINE void attend_last_rows(const AttendArguments& in, AttendWorkspace& work,
                                 const TokenGroup& group, int first_token, int first_row) {
  switch (in.rows() - first_row) {
    case 1: return attend_group<1>(in, work, group, first_token, first_row);
    case 2: return attend_group<2>(in, work, group, first_token, first_row);
    case 3: return attend_group<3>(in, work, group, first_token, first_row);
    case 4: return attend_group<4>(in, work, group, first_token, first_row);
    case 5: return attend_group<5>(in, work, group, first_token, first_row);
    case 6: return attend_group<6>(in, work, group, first_token, first_row);
    case 7: return attend_group<7>(in, work, group, first_token, first_row);
    default: return;
  }
}

inline void attend_few(const AttendArguments& in, AttendWorkspace& work) {
  pack_few(in, work);
  TokenGroup group;
  const int last = in.task.token_end - 1;
  const auto locate = [&](int first_token, const std::uint16_t** pointers) {
    // Past the end the last token stands in: it is finite, and its weight will be 0.
    for (int t = 0; t < kGroupTokens; ++t)
      pointers[t] = in.cache_row(std::min(first_token + t, last));
  };
  if (in.task.token_begin <= last) locate(in.task.token_begin, group.next);
  for (int token = in.task.token_begin; token <= last; token += kGroupTokens) {
    std::copy(std::begin(group.next), std::end(group.next), group.now);
    locate(token + kGroupTokens, group.next);
    int row = 0;
    for (; row + kMostRows <= in.rows(); row += kMostRows) {
      attend_group<kMostRows>(in, work, group, token, row);
    }
    attend_last_rows(in, work, group, token, row);
  }
  finish_few(in, work);
}

}  // namespace headsplit::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
