// Few query rows: memory-bound.  The cache is read as it is stored, with no fp32 copy.  A group of
// tokens is small enough to stay close between its two uses, scores and output, and the next group
// is fetched meanwhile.

HWY_BEFORE_NAMESPACE();
namespace headsplit::kernels::HWY_NAMESPACE {

/// Up to here these loops are faster (docs/mla-dense-cpu.md).
constexpr int kFewRows = kManyRegisters ? 24 : 16;

/// They take whole vectors of bf16 only.
HWY_INLINE bool takes_few_path(int rows, int key_width, int value_width) {
  return rows <= kFewRows && key_width % kPairs == 0 && value_width % kPairs == 0;
}

/// Keys and values of a group.
struct CachedGroup {
  TokenGroup keys;
  TokenGroup values;
  Fetches fetches;
};

/// Rows first_row .. first_row + kRows of the item against one group.
template <int kRows>
HWY_INLINE void attend_group(const AttendArguments& in, AttendWorkspace& work,
                             const CachedGroup& group, int first_token, int first_row) {
  const int value_width = in.values.width;
  float* output = work.output.get() + std::int64_t{first_row} * value_width;
  float* scores = work.scores.get();
  score_group<kRows>(group.keys, work.query.get() + std::int64_t{first_row} * in.keys.width,
                     in.keys.width, group.fetches, scores);
  float rescale[kRows];
  for (int row = 0; row < kRows; ++row) {
    const int attended = static_cast<int>(work.end[std::size_t(first_row + row)]);
    const int end = std::min(attended, in.task.token_end);
    rescale[row] = softmax_group(scores + row * kGroupTokens, end - first_token,
                                 work.largest[std::size_t(first_row + row)],
                                 work.sum[std::size_t(first_row + row)]);
  }
  accumulate_group<kRows>(group.values, scores, rescale, value_width, group.fetches, output);
}

HWY_INLINE void pack_few(const AttendArguments& in, AttendWorkspace& work) {
  const Floats floats;
  const Float scale = hn::Set(floats, in.problem->softmax_scale);
  float* packed = work.query.get();
  for (int row = 0; row < in.rows(); ++row) {
    const std::uint16_t* query = in.query_row(row);
    for (int d = 0; d < in.keys.width; d += kPairs) {
      const EvenOdd q = load_bf16_pairs(query + d);
      hn::Store(hn::Mul(q.even, scale), floats, packed);
      hn::Store(hn::Mul(q.odd, scale), floats, packed + kLanes);
      packed += kPairs;
    }
  }
}

HWY_INLINE void finish_few(const AttendArguments& in, const AttendWorkspace& work) {
  const Floats floats;
  const int width = in.values.width;
  for (int row = 0; row < in.rows(); ++row) {
    const float sum = work.sum[std::size_t(row)];
    const Float factor = hn::Set(floats, sum > 0 ? 1 / sum : 0);
    float* out = in.output + in.output_rows.row(row) * width;
    for (int d = 0; d < width; d += kPairs) {
      const float* from = work.output.get() + std::int64_t{row} * width + d;
      hn::StoreInterleaved2(hn::Mul(hn::Load(floats, from), factor),
                            hn::Mul(hn::Load(floats, from + kLanes), factor), floats, out + d);
    }
  }
}

/// The rows from first_row on: fewer than kMostRows.
HWY_INLINE void attend_last_rows(const AttendArguments& in, AttendWorkspace& work,
                                 const CachedGroup& group, int first_token, int first_row) {
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

/// Finds the next group, from `first_token` on.  Past the end the last token stands in: it is
/// finite, and its weight will be 0.
HWY_INLINE void locate_next(const AttendArguments& in, int first_token, CachedGroup& group) {
  const int last = in.task.token_end - 1;
  for (int t = 0; t < kGroupTokens; ++t) {
    const int token = std::min(first_token + t, last);
    group.keys.next[t] = in.cached_row(in.keys, token);
    group.values.next[t] = in.cached_row(in.values, token);
  }
}

HWY_INLINE void step_to_next(CachedGroup& group) {
  std::copy(std::begin(group.keys.next), std::end(group.keys.next), group.keys.now);
  std::copy(std::begin(group.values.next), std::end(group.values.next), group.values.now);
}

inline void attend_few(const AttendArguments& in, AttendWorkspace& work) {
  pack_few(in, work);
  CachedGroup group;
  group.fetches = fetches_of(in.shared(), in.values.width);
  if (in.task.token_begin < in.task.token_end) locate_next(in, in.task.token_begin, group);
  for (int token = in.task.token_begin; token < in.task.token_end; token += kGroupTokens) {
    step_to_next(group);
    locate_next(in, token + kGroupTokens, group);
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
