#pragma once

#include "kernels/dsa_indexer/select_shared.cuh"

/// The selection for rows of any scores: several passes over them, ten bits of the keys each.
namespace headsplit::kernels::indexer {

/// What is known of the smallest chosen key: its highest bits.
struct Threshold {
  int shift = 32;            ///< bits that are not known
  std::uint32_t prefix = 0;  ///< those that are
  int wanted = 0;            ///< of the keys that begin like this, how many are chosen

  __device__ bool matches(std::uint32_t key) const { return shift > 31 || key >> shift == prefix; }
  __device__ bool is_above(std::uint32_t key) const { return key >> shift > prefix; }
};

/// Keys chosen for certain and keys that begin like the threshold.
struct Counts {
  int above = 0;
  int equal = 0;

  __device__ Counts operator+(const Counts& other) const {
    return {above + other.above, equal + other.equal};
  }
  __device__ static Counts of(const Threshold& threshold, const float (&four)[4], int count) {
    Counts found;
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      if (e >= count) continue;
      found.above += threshold.is_above(key_of(four[e]));
      found.equal += threshold.matches(key_of(four[e]));
    }
    return found;
  }
  /// How many of them are chosen, when they are the first.
  __device__ int chosen(int wanted) const { return above + min(equal, wanted); }
};

__device__ __forceinline__ Threshold search_threshold(const Row& row, const Piece& piece,
                                                      SelectShared& shared) {
  Threshold threshold{.wanted = row.wanted};
  for (int pass = 0; threshold.shift > 0; ++pass) {
    std::uint32_t* const histogram = shared.search[pass];
    const int bits = min(kDigitBits, threshold.shift);
    const int shift = threshold.shift - bits;
    piece.for_each([&](int, float score) {
      const std::uint32_t key = key_of(score);
      if (threshold.matches(key)) atomicAdd(&histogram[key >> shift & ((1u << bits) - 1)], 1u);
    });
    cluster_barrier(row.ctas);
    find_digit(histogram, threshold.wanted, row, shared);
    threshold.shift = shift;
    threshold.prefix = threshold.prefix << bits | std::uint32_t(shared.digit);
    threshold.wanted -= shared.above;
    if (shared.digit_count == threshold.wanted) break;
  }
  return threshold;
}

/// What the warps before this one have, in this CTA and in those before it.
__device__ __forceinline__ Counts count_before(const Piece& piece, const Threshold& threshold,
                                               const Row& row, SelectShared& shared) {
  Counts mine;
  piece.for_each_four([&](int, const float(&four)[4], int count) {
    mine = mine + Counts::of(threshold, four, count);
  });
  mine = {__reduce_add_sync(kAllLanes, mine.above), __reduce_add_sync(kAllLanes, mine.equal)};
  const bool first_lane = piece.lane == 0;
  Counts up_to = {sum_up_to(first_lane ? mine.above : 0, shared), 0};
  __syncthreads();
  up_to.equal = sum_up_to(first_lane ? mine.equal : 0, shared);
  if (threadIdx.x == kSelectThreads - 1) {
    shared.total[0] = up_to.above;
    shared.total[1] = up_to.equal;
  }
  cluster_barrier(row.ctas);
  return Counts{up_to.above - mine.above, up_to.equal - mine.equal} +
         Counts{sum_before(&shared.total[0], row), sum_before(&shared.total[1], row)};
}

/// Writes what is chosen of this warp's piece.
__device__ __forceinline__ void write_piece(const Piece& piece, const Threshold& threshold,
                                            Counts before, const Row& row) {
  piece.for_each_four([&](int token, const float(&four)[4], int count) {
    const Counts mine = Counts::of(threshold, four, count);
    // At most four each: both fit in a word that is summed over the lanes.
    const std::uint32_t packed = std::uint32_t(mine.above) << 16 | std::uint32_t(mine.equal);
    if (!__any_sync(kAllLanes, packed != 0)) return;
    std::uint32_t sum = packed;
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
      const std::uint32_t other = __shfl_up_sync(kAllLanes, sum, step);
      if (piece.lane >= step) sum += other;
    }
    const std::uint32_t all = __shfl_sync(kAllLanes, sum, 31);
    sum -= packed;
    Counts at = before + Counts{int(sum >> 16), int(sum & 0xFFFF)};
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      const bool above = e < count && threshold.is_above(key_of(four[e]));
      const bool equal = e < count && threshold.matches(key_of(four[e]));
      if (above || (equal && at.equal < threshold.wanted)) {
        row.write(at.chosen(threshold.wanted), token + e);
      }
      at = at + Counts{int(above), int(equal)};
    }
    before = before + Counts{int(all >> 16), int(all & 0xFFFF)};
  });
}

__device__ __noinline__ void select_by_search(const Row& row, const Piece& piece,
                                              SelectShared& shared) {
  __syncthreads();  // all is cleared
  const Threshold threshold = search_threshold(row, piece, shared);
  const Counts before = count_before(piece, threshold, row, shared);
  if (row.ctas > 1) ptx::cluster_arrive();
  write_piece(piece, threshold, before, row);
  if (row.ctas > 1) ptx::cluster_wait();  // nobody reads this CTA's shared memory any more
}

}  // namespace headsplit::kernels::indexer
