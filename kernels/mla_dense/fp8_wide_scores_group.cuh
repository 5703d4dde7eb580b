#pragma once

#include "kernels/device/quad.cuh"
#include "kernels/device/wgmma_registers.cuh"
#include "kernels/mla_dense/fp8_wide_rows.cuh"
#include "kernels/split/softmax_constants.h"

/// The warpgroup that multiplies keys with queries and makes weights of the scores.
namespace headsplit::kernels::dense::wide {

using split::kLn2;

/// Named barrier of the scores' group.
constexpr int kScoresBarrier = 1;
/// Offset of a row that has attended to nothing yet: any score is far above.
constexpr float kNoReference = 1e30f;

/// A warp has 16 tokens of a tile: a thread the tokens token_of(lane / 4) and 8 after it, and the
/// packed rows 8 x j + 2 x (lane % 4) + {0, 1}.
template <class Rows, int kRows>
struct ScoresGroup {
  using Arguments = typename Rows::Arguments;
  using Row = typename Rows::Row;
  static constexpr int kColumns = kRows / 4;    ///< packed rows of a thread
  static constexpr int kScores = 2 * kColumns;  ///< [4 x j + 2 x (which token) + {0, 1}]

  const Arguments& arguments;
  SharedMemory<kRows, Row> memory;
  split::CtaItems<Arguments> items;
  int warp;
  int lane;

  // Of the item:
  WorkItem item;
  int mask_begin;       ///< tiles that reach past this token are masked
  float sum[kColumns];  ///< of this thread's weights, lifted

  RingPosition ring{};     ///< of the tile's rows
  RingPosition weights{};  ///< of its weights

  __device__ int first_token() const { return 16 * warp + fp8::token_of(lane / 4); }
  /// What a score is multiplied with, to be a logarithm of base 2.
  __device__ float score_factor() const {
    return arguments.scale_log2 * (Row::kOneScale ? arguments.cache_scale : 1 / kLift);
  }
  __device__ int first_row() const { return lane % 4 * 2; }
  __device__ void barrier() const { ptx::barrier_sync(kScoresBarrier, kGroupThreads); }
  __device__ std::int64_t query_row(int of_tile) const {
    return std::int64_t{item.request} * arguments.packed_rows + item.row_begin + of_tile;
  }

  __device__ void begin(const WorkItem& next);
  __device__ std::uint32_t load_scales() const;
  __device__ void multiply(float (&scores)[kScores], std::uint32_t scales) const;
  __device__ void mask(float (&scores)[kScores], int token) const;
  __device__ bool above(const float (&scores)[kScores], const float (&offset)[kColumns]) const;
  __device__ void move_references(const float (&scores)[kScores], float (&offset)[kColumns]);
  __device__ void weigh(const float (&scores)[kScores], const float (&offset)[kColumns]);
  __device__ void store_sums() const;
  __device__ void store_scales(std::uint32_t scales) const;
  __device__ void clear(int from) const;
  __device__ void no_tokens() const;
  __device__ void tile(int token, bool first, bool last);
  __device__ void run();
};

}  // namespace headsplit::kernels::dense::wide
