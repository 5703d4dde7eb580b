// Many query rows: compute-bound.  Each tile of the cache is widened to fp32 once and multiplied
// with all rows.  Vectors run over query rows, and cache values are broadcast: a tile needs no
// transposition, softmax needs no sums across lanes, and both products are the same small kernel.
//   scores [tokens, rows] = keys [tokens, key width] x query [key width, rows]
//   output [value width, rows] += values^T [value width, tokens] x weights [tokens, rows]
// Rows are cut into panels of kPanelVectors vectors; the last panel has one where that suffices.

HWY_BEFORE_NAMESPACE();
namespace headsplit::kernels::HWY_NAMESPACE {

/// Vectors of the panel that starts at `row`.
HWY_INLINE int panel_vectors(int row, int rows) { return rows - row > kLanes ? kPanelVectors : 1; }

/// Rows row .. row + 3 of the query to columns of their panel [key width, width], fp32 and scaled;
/// rows past the last one are 0.
HWY_INLINE void pack_four_rows(const AttendArguments& in, AttendWorkspace& work, int row,
                               float* target, int width) {
  const Floats floats;
  const int key_width = in.keys.width;
  const Float scale = hn::Set(floats, in.problem->softmax_scale);
  float* wide = work.keys.get();  // free until the first tile
  for (int i = 0; i < 4; ++i) {
    float* widened = wide + i * work.key_stride;
    if (row + i < in.rows()) {
      widen(in.query_row(row + i), key_width, widened);
    } else {
      std::fill_n(widened, key_width, 0.0f);
    }
  }
  for (int d = 0; d < key_width; d += kLanes) {
    const auto column = [&](int i) {
      return hn::Mul(hn::Load(floats, wide + i * work.key_stride + d), scale);
    };
    store_columns(column(0), column(1), column(2), column(3), std::min(kLanes, key_width - d),
                  target + std::int64_t{d} * width, width);
  }
}

HWY_INLINE void pack_many(const AttendArguments& in, AttendWorkspace& work) {
  for (int panel = 0; panel < in.rows();) {
    const int width = panel_vectors(panel, in.rows()) * kLanes;
    float* packed = work.query.get() + std::int64_t{panel} * in.keys.width;
    for (int row = 0; row < width; row += 4) {
      pack_four_rows(in, work, panel + row, packed + row, width);
    }
    panel += width;
  }
  work.packed_item = in.task.item.index;
}

/// Columns d .. d + 3 (or one, past the last four) of `count` rows of the output.
struct PanelRows {
  float* output;
  const RowLayout& layout;
  int first;  ///< row of the item
  int count;
  int width;

  float* row(int i) const { return output + layout.row(first + i) * width; }

  HWY_INLINE void store(Float v0, Float v1, Float v2, Float v3, int d) const {
    HWY_ALIGN float lanes[4 * kLanes];
    hn::StoreInterleaved4(v0, v1, v2, v3, Floats(), lanes);
    for (int i = 0; i < count; ++i) std::memcpy(row(i) + d, lanes + 4 * i, 4 * sizeof(float));
  }
  HWY_INLINE void store(Float v, int d) const {
    HWY_ALIGN float lanes[kLanes];
    hn::Store(v, Floats(), lanes);
    for (int i = 0; i < count; ++i) row(i)[d] = lanes[i];
  }
};

/// Sums of one panel [value width, width] to output rows, divided by the weights' sum.
HWY_INLINE void finish_panel(const AttendArguments& in, const AttendWorkspace& work, int panel,
                             int width) {
  const Floats floats;
  const int value_width = in.values.width;
  const float* sums = work.output.get() + panel * work.output_stride;
  for (int lane = 0; lane < width && panel + lane < in.rows(); lane += kLanes) {
    const Float sum = hn::Load(floats, work.sum.get() + panel + lane);
    const Float some = hn::IfThenElse(hn::Gt(sum, hn::Zero(floats)), sum, hn::Set(floats, 1));
    const Float factor = hn::Div(hn::Set(floats, 1), some);
    const PanelRows rows{in.output, in.output_rows, panel + lane,
                         std::min(kLanes, in.rows() - panel - lane), value_width};
    const auto column = [&](int d) {
      return hn::Mul(hn::Load(floats, sums + std::int64_t{d} * width + lane), factor);
    };
    int d = 0;
    for (; d + 4 <= value_width; d += 4) {
      rows.store(column(d), column(d + 1), column(d + 2), column(d + 3), d);
    }
    for (; d < value_width; ++d) rows.store(column(d), d);
  }
}

/// Tokens of the tile that is in the workspace.
struct Tile {
  int first = 0;
  int tokens = 0;
};

template <int kVectors>
HWY_INLINE void attend_panel(const AttendArguments& in, AttendWorkspace& work, int panel_row,
                             const Tile& tile) {
  const Panel<kVectors> panel{.query = work.query.get() + std::int64_t{panel_row} * in.keys.width,
                              .output = work.output.get() + panel_row * work.output_stride,
                              .scores = work.scores.get(),
                              .largest = work.largest.get() + panel_row,
                              .sum = work.sum.get() + panel_row,
                              .end = work.end.get() + panel_row};
  const int rows = std::min(panel.kWidth, in.rows() - panel_row);
  const auto [least, most] = std::minmax_element(panel.end, panel.end + rows);
  if (static_cast<int>(*most) <= tile.first) return;  // the tile is hidden from all of its rows
  panel.score(work.keys.get(), work.key_stride, tile.tokens, in.keys.width);
  if (static_cast<int>(*least) < tile.first + tile.tokens) panel.mask(tile.first, tile.tokens);
  Float rescale[kVectors];
  panel.softmax(tile.tokens, rescale);
  panel.accumulate(work.value_tile(), work.value_stride, tile.tokens, in.values.width, rescale);
}

HWY_INLINE void widen_tile(const AttendArguments& in, AttendWorkspace& work, const Tile& tile) {
  for (int t = 0; t < tile.tokens; ++t) {
    widen(in.cached_row(in.keys, tile.first + t), in.keys.width,
          work.keys.get() + t * work.key_stride);
    if (in.shared()) continue;
    widen(in.cached_row(in.values, tile.first + t), in.values.width,
          work.values.get() + t * work.value_stride);
  }
}

inline void attend_many(const AttendArguments& in, AttendWorkspace& work) {
  const int rows = in.rows();
  if (work.packed_item != in.task.item.index) pack_many(in, work);
  for (int first = in.task.token_begin; first < in.task.token_end; first += kCpuTileTokens) {
    const Tile tile{first, std::min(kCpuTileTokens, in.task.token_end - first)};
    widen_tile(in, work, tile);
    for (int panel = 0; panel < rows;) {
      if (panel_vectors(panel, rows) == kPanelVectors) {
        attend_panel<kPanelVectors>(in, work, panel, tile);
        panel += kPanelVectors * kLanes;
      } else {
        attend_panel<1>(in, work, panel, tile);
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
