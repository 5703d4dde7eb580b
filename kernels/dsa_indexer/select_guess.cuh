#pragma once

#include "kernels/dsa_indexer/select_shared.cuh"

/// The selection for rows whose scores are spread: one pass over them.
namespace headsplit::kernels::indexer {

/// A function from scores to bins that keeps their order: equal steps from `low` on.
struct Bins {
  float low;
  float steps;  ///< a unit of the score

  /// score: not below `low`.
  __device__ int of(float score) const { return min(kBins - 1, int((score - low) * steps)); }
};

__device__ __forceinline__ Entry entry_of(float score, int token) {
  return Entry{key_of(score)} << 32 | ~std::uint32_t(token);
}
__device__ __forceinline__ int token_of(Entry entry) { return int(~std::uint32_t(entry)); }
__device__ __forceinline__ float score_of(Entry entry) {
  const auto key = std::uint32_t(entry >> 32);
  return __uint_as_float(key ^ ((key >> 31) != 0 ? 0x80000000 : 0xFFFFFFFF));
}

/// The least and the largest value of all threads.
struct Range {
  float least;
  float largest;

  __device__ __forceinline__ void widen_over_warp() {
#pragma unroll
    for (int step = 16; step > 0; step /= 2) {
      least = fminf(least, __shfl_xor_sync(kAllLanes, least, step));
      largest = fmaxf(largest, __shfl_xor_sync(kAllLanes, largest, step));
    }
  }
  __device__ static Range of_cta(float value, SelectShared& shared) {
    Range range{value, value};
    range.widen_over_warp();
    if (threadIdx.x % 32 == 0) {
      shared.warp_least[threadIdx.x / 32] = range.least;
      shared.warp_largest[threadIdx.x / 32] = range.largest;
    }
    __syncthreads();
    range = {shared.warp_least[threadIdx.x % 32], shared.warp_largest[threadIdx.x % 32]};
    range.widen_over_warp();
    return range;
  }
};

/// A quarter more of the sample than should be chosen of it, and a few.
__device__ __forceinline__ int enough_of_sample(const Row& row) {
  return int(float(row.wanted) * (kBins * 1.25f) / float(row.tokens)) + 12;
}

/// Bins from somewhat below the smallest chosen score, going by a sample of the row, to its
/// largest; the same for all CTAs.  sample: this thread's score of it.
__device__ __forceinline__ Bins choose_bins(float sample, const Row& row, SelectShared& shared) {
  const int enough = enough_of_sample(row);
  const auto [least, largest] = Range::of_cta(sample, shared);
  const float width = (largest - least) / kBins;
  const int bin = width > 0 ? min(kBins - 1, int((sample - least) / width)) : 0;
  atomicAdd(&shared.sample[bin], 1u);
  // Nearly all are chosen: the smallest chosen one may be below the sample.
  if (threadIdx.x == 0) shared.low_bin = -kBins / 8;
  __syncthreads();
  const int place = kBins - 1 - int(threadIdx.x);
  const int count = int(shared.sample[place]);
  const int before = sum_up_to(count, shared) - count;
  if (before < enough && before + count >= enough) shared.low_bin = place;
  __syncthreads();
  const float low = least + width * float(shared.low_bin);
  return {low, largest > low ? kBins / (largest - low) : 0};
}

/// The CTA's scores from `low` on into its list, as far as there is room; list_count counts all.
__device__ __forceinline__ void make_list(const Piece& piece, float low, SelectShared& shared) {
  piece.for_each_four([&](int token, const float(&four)[4], int count) {
    bool kept[4];
    int mine = 0;
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      kept[e] = e < count && four[e] >= low;
      mine += kept[e];
    }
    if (!__any_sync(kAllLanes, mine > 0)) return;
    int sum = mine;
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
      const int before = __shfl_up_sync(kAllLanes, sum, step);
      if (piece.lane >= step) sum += before;
    }
    int first = 0;
    if (piece.lane == 31) first = atomicAdd(&shared.list_count, sum);
    int place = __shfl_sync(kAllLanes, first, 31) + sum - mine;
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      if (!kept[e]) continue;
      if (place < kListMax) shared.list[place] = entry_of(four[e], token + e);
      ++place;
    }
  });
}

/// The entries of all CTAs that are in the threshold's bin: where they are, and how many.
__device__ __forceinline__ const Entry* collect_members(int& total, const Row& row,
                                                        SelectShared& shared) {
  if (row.ctas == 1) {
    total = shared.member_count;
    return shared.members;
  }
  int first = 0;
  for (int rank = 0; rank < row.ctas; ++rank) {
    const int count = int(ptx::load_cluster(ptx::shared_address(&shared.member_count), rank));
    for (int i = threadIdx.x; i < count; i += kSelectThreads) {
      const std::uint32_t address = ptx::shared_address(shared.members + i);
      shared.ranked[first + i] =
          Entry{ptx::load_cluster(address + 4, rank)} << 32 | ptx::load_cluster(address, rank);
    }
    first += count;
  }
  __syncthreads();
  total = first;
  return shared.ranked;
}

/// The smallest chosen entry of the row into `threshold`.  False, for all CTAs: too many scores are
/// close to it, or it is none that the sample lets expect.
__device__ __forceinline__ bool find_threshold(const Bins& bins, const Row& row,
                                               SelectShared& shared) {
  const int count = shared.list_count;
  if (count > kListMax) {
    // Then the largest bin is too large for all CTAs.
    if (threadIdx.x == 0) shared.histogram[kBins - 1] = kRankedMax + row.wanted + 1;
  } else {
    for (int i = threadIdx.x; i < count; i += kSelectThreads) {
      atomicAdd(&shared.histogram[bins.of(score_of(shared.list[i]))], 1u);
    }
  }
  cluster_barrier(row.ctas);
  find_digit(shared.histogram, row.wanted, row, shared);
  const int digit = shared.digit;
  if (digit < 0 || shared.digit_count > kRankedMax) return false;
  for (int i = threadIdx.x; i < count; i += kSelectThreads) {
    if (bins.of(score_of(shared.list[i])) != digit) continue;
    shared.members[atomicAdd(&shared.member_count, 1)] = shared.list[i];
  }
  cluster_barrier(row.ctas);
  int total = 0;
  const Entry* const members = collect_members(total, row, shared);
  if (int(threadIdx.x) < total) {
    const Entry mine = members[threadIdx.x];
    int better = 0;
    for (int i = 0; i < total; ++i) better += members[i] > mine;
    if (better == row.wanted - shared.above - 1) shared.threshold = mine;
  }
  __syncthreads();
  return true;
}

/// Writes this CTA's part of the list, in the order of tokens.
__device__ __forceinline__ void write_list(const Piece& piece, const Row& row,
                                           SelectShared& shared) {
  const int count = shared.list_count;
  const Entry threshold = shared.threshold;
  for (int i = threadIdx.x; i < count; i += kSelectThreads) {
    if (shared.list[i] < threshold) continue;
    const int token = token_of(shared.list[i]) - piece.cta_begin;
    atomicOr(&shared.bitmap[token / 32], 1u << (token % 32));
  }
  __syncthreads();
  const int words = piece.cta_tokens / 32;
  const int each = (words + kSelectThreads - 1) / kSelectThreads;
  const int begin = min(words, int(threadIdx.x) * each);
  const int end = min(words, begin + each);
  int mine = 0;
  for (int word = begin; word < end; ++word) mine += __popc(shared.bitmap[word]);
  int before = sum_up_to(mine, shared);
  if (threadIdx.x == kSelectThreads - 1) shared.total[0] = before;
  before -= mine;
  for (int word = begin; word < end; ++word) {
    shared.chosen_before[word] = std::uint32_t(before);
    before += __popc(shared.bitmap[word]);
  }
  cluster_barrier(row.ctas);
  const int first = sum_before(&shared.total[0], row);
  if (row.ctas > 1) ptx::cluster_arrive();
  for (int i = threadIdx.x; i < count; i += kSelectThreads) {
    if (shared.list[i] < threshold) continue;
    const int token = token_of(shared.list[i]);
    const int word = (token - piece.cta_begin) / 32;
    const std::uint32_t earlier = (1u << (token % 32)) - 1;
    row.write(first + int(shared.chosen_before[word]) + __popc(shared.bitmap[word] & earlier),
              token);
  }
  if (row.ctas > 1) ptx::cluster_wait();  // nobody reads this CTA's shared memory any more
}

/// False, for all CTAs: the row needs a search.
__device__ __forceinline__ bool select_by_guess(const Row& row, const Piece& piece,
                                                SelectShared& shared) {
  if (piece.cta_tokens > 32 * kBitmapWords) return false;
  const float sample = row.scores[std::int64_t{row.tokens} * threadIdx.x / kSelectThreads];
  const Bins bins = choose_bins(sample, row, shared);
  make_list(piece, bins.low, shared);
  __syncthreads();
  if (!find_threshold(bins, row, shared)) return false;
  write_list(piece, row, shared);
  return true;
}

}  // namespace headsplit::kernels::indexer
