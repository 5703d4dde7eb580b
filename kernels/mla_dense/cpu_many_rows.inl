// Many query rows: compute-bound.  Each tile of the cache is widened to fp32 once and multiplied
// with all rows.  Vectors run over query rows, and cache values are broadcast: a tile needs no
// transposition, softmax needs no sums across lanes, and both products are the same small kernel.
//   scores [tokens, rows] = latent [tokens, d_qk] x query [d_qk, rows]
//   output [d_latent, rows] += latent^T [d_latent, tokens] x weights [tokens, rows]
// Rows are cut into panels of kPanelVectors vectors; the last panel has one where that suffices.

HWY_BEFORE_NAMESPACE();
namespace headsplit::kernels::HWY_NAMESPACE {

/// Vectors of the panel that starts at `row`.
HWY_INLINE int panel_vectors(int row, int rows) { return rows - row > kLanes ? kPanelVectors : 1; }

/// Rows row .. row + 3 of the query to columns of their panel [d_qk, width], fp32 and scaled; rows
/// past the last one are 0.
HWY_INLINE void pack_four_rows(const AttendArguments& in, AttendWorkspace& work, int row,
                               float* target, int width) {
  const Floats floats;
  const int d_qk = in.problem->shape.d_qk();
  const Float scale = hn::Set(floats, in.problem->softmax_scale);
  float* wide = work.latent.get();  // free until the first tile
  for (int i = 0; i < 4; ++i) {
    float* widened = wide + i * work.latent_stride;
    if (row + i < in.rows()) {
      widen(in.query + std::int64_t{row + i} * d_qk, d_qk, widened);
    } else {
      std::fill_n(widened, d_qk, 0.0f);
    }
  }
  for (int d = 0; d < d_qk; d += kLanes) {
    const auto column = [&](int i) {
      return hn::Mul(hn::Load(floats, wide + i * work.latent_stride + d), scale);
    };
    store_columns(column(0), column(1), column(2), column(3), std::min(kLanes, d_qk - d),
                  target + std::int64_t{d} * width, width);
  }
}

HWY_INLINE void pack_many(const AttendArguments& in, AttendWorkspace& work) {
  for (int panel = 0; panel < in.rows();) {
    const int width = panel_vectors(panel, in.rows()) * kLanes;
    float* packed = work.query.get() + std::int64_t{panel} * in.problem->shape.d_qk();
    for (int row = 0; row < width; row += 4) {
      pack_four_rows(in, work, panel + row, packed + row, width);
    }
    panel += width;
  }
  work.packed_request = in.task.request;
}

/// Sums of one panel [d_latent, width] to output rows [d_latent], divided by the weights' sum.
HWY_INLINE void finish_panel(const AttendArguments& in, const AttendWorkspace& work, int panel,
                             int width) {
  const Floats floats;
  const int d_latent = in.problem->shape.d_latent;
  const float* sums = work.output.get() + panel * work.output_stride;
  for (int lane = 0; lane < width && panel + lane < in.rows(); lane += kLanes) {
    const int count = std::min(kLanes, in.rows() - panel - lane);
    const Float sum = hn::Load(floats, work.sum.get() + panel + lane);
    const Float some = hn::IfThenElse(hn::Gt(sum, hn::Zero(floats)), sum, hn::Set(floats, 1));
    const Float factor = hn::Div(hn::Set(floats, 1), some);
    float* out = in.output + std::int64_t{panel + lane} * d_latent;
    const auto row = [&](int d) {
      return hn::Mul(hn::Load(floats, sums + std::int64_t{d} * width + lane), factor);
    };
    int d = 0;
    for (; d + 4 <= d_latent; d += 4) {
      store_columns(row(d), row(d + 1), row(d + 2), row(d + 3), count, out + d, d_latent);
    }
    for (; d < d_latent; ++d) {
      HWY_ALIGN float lanes[kLanes];
      hn::Store(row(d), floats, lanes);
      for (int i = 0; i < count; ++i) out[std::int64_t{i} * d_latent + d] = lanes[i];
    }
  }
}

template <int kVectors>
HWY_INLINE void attend_panel(const AttendArguments& in, AttendWorkspace& work, int panel_row,
                             int first_token, int tokens, bool masked) {
  const RankProblem& shape = in.problem->shape;
  const Panel<kVectors> panel{.query = work.query.get() + std::int64_t{panel_row} * shape.d_qk(),
                              .output = work.output.get() + panel_row * work.output_stride,
                              .scores = work.scores.get(),
                              .largest = work.largest.get() + panel_row,
                              .sum = work.sum.get() + panel_row,
                              .end = work.end.get() + panel_row};
  panel.score(work.latent.get(), work.latent_stride, tokens, shape.d_qk());
  if (masked) panel.mask(first_token, tokens);
  Float rescale[kVectors];
  panel.softmax(tokens, rescale);
  panel.accumulate(work.latent.get(), work.latent_stride, tokens, shape.d_latent, rescale);
}

inline void attend_many(const AttendArguments& in, AttendWorkspace& work) {
  const RankProblem& shape = in.problem->shape;
  const int rows = in.rows();
  if (work.packed_request != in.task.request) pack_many(in, work);
  const int all_attend = in.problem->attended(in.task.request, 0);
  for (int first = in.task.token_begin; first < in.task.token_end; first += kCpuTileTokens) {
    const int tokens = std::min(kCpuTileTokens, in.task.token_end - first);
    for (int t = 0; t < tokens; ++t) {
      widen(in.cache_row(first + t), shape.d_qk(), work.latent.get() + t * work.latent_stride);
    }
    const bool masked = first + tokens > all_attend;
    for (int panel = 0; panel < rows;) {
      if (panel_vectors(panel, rows) == kPanelVectors) {
        attend_panel<kPanelVectors>(in, work, panel, first, tokens, masked);
        panel += kPanelVectors * kLanes;
      } else {
        attend_panel<1>(in, work, panel, first, tokens, masked);
        panel += kLanes;
      }
    }
  }
  for (int panel = 0; panel < rows;) {
    const int width = panel_vectors(panel, rows) * kLanes;
    finish_panel(in, work, panel, width);
    panel += width;
  }
}

}  // namespace headsplit::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
