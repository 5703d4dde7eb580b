#pragma once

#include "kernels/dsa_indexer/select_row.cuh"

/// What the CTAs of a row share, and how they add up.
namespace headsplit::kernels::indexer {

constexpr int kBins = kSelectThreads;
/// Bits of a key that a histogram tells apart.
constexpr int kDigitBits = 10;
static_assert(kBins == 1 << kDigitBits);
/// Keys of a CTA that the guess keeps.
constexpr int kListMax = 6144;
/// Keys that are ranked by comparing each with all.
constexpr int kRankedMax = 512;
/// 32 tokens each, of a CTA.
constexpr int kBitmapWords = 4096;
/// Histograms of a search: the last has the two bits that are left.
constexpr int kSearchPasses = 4;

/// A key and its token, in order: of equal keys the earlier token is the larger entry.
using Entry = std::uint64_t;

struct SelectShared {
  Entry list[kListMax];            ///< this CTA's, no smaller than the lowest bin
  Entry members[kRankedMax];       ///< this CTA's, of the bin that the threshold is in
  Entry ranked[kRankedMax];        ///< the members of all CTAs
  std::uint32_t histogram[kBins];  ///< of this CTA
  union {
    std::uint32_t bitmap[kBitmapWords];          ///< the guess: tokens of this CTA that are chosen
    std::uint32_t search[kSearchPasses][kBins];  ///< the search, of this CTA
  };
  std::uint32_t chosen_before[kBitmapWords];  ///< in this CTA, before a word's tokens
  std::uint32_t sample[kBins];                ///< histogram of a sample of the row
  std::uint32_t warp_sums[kSelectWarps];
  float warp_least[kSelectWarps];
  float warp_largest[kSelectWarps];
  Entry threshold;
  int low_bin;  ///< of the sample: where the lowest bin begins
  int list_count;
  int member_count;
  int total[2];     ///< of this CTA: chosen; of the search: above and equal to the threshold
  int digit;        ///< the bin that the threshold is in; -1: it is in none
  int above;        ///< keys of larger bins, in the row
  int digit_count;  ///< keys of that bin, in the row
};
/// What a CTA may have on any GPU from sm_86 on.
static_assert(sizeof(SelectShared) <= 99 << 10);
static_assert(sizeof(SelectShared::bitmap) == sizeof(SelectShared::search));

__device__ __forceinline__ void cluster_barrier(int ctas) {
  if (ctas > 1) {
    ptx::cluster_arrive();
    ptx::cluster_wait();
  }
  __syncthreads();  // racecheck counts a barrier of the cluster for none of its CTAs
}

/// What all CTAs together have at this place of their shared memory.
__device__ __forceinline__ int sum_of_ctas(const void* place, const Row& row) {
  const std::uint32_t address = ptx::shared_address(place);
  if (row.ctas == 1) return int(ptx::load_shared(address));
  int sum = 0;
#pragma unroll
  for (int i = 0; i < kSelectCtasMax; ++i) {
    // Each begins with another one.
    if (i < row.ctas) sum += int(ptx::load_cluster(address, (row.cta + i) & (row.ctas - 1)));
  }
  return sum;
}

/// What the CTAs before this one have there.
__device__ __forceinline__ int sum_before(const void* place, const Row& row) {
  int sum = 0;
  for (int rank = 0; rank < row.cta; ++rank) {
    sum += int(ptx::load_cluster(ptx::shared_address(place), rank));
  }
  return sum;
}

/// Inclusive sum over the threads of the CTA.  Threads may be ahead by one barrier.
__device__ __forceinline__ int sum_up_to(int value, SelectShared& shared) {
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
#pragma unroll
  for (int step = 1; step < 32; step *= 2) {
    const int before = __shfl_up_sync(kAllLanes, value, step);
    if (lane >= step) value += before;
  }
  if (lane == 31) shared.warp_sums[warp] = std::uint32_t(value);
  __syncthreads();
  const std::uint32_t others = lane < warp ? shared.warp_sums[lane] : 0;
  return value + int(__reduce_add_sync(kAllLanes, others));
}

/// The bin, counted from the largest, in which the number of keys comes to `wanted`, or -1; all
/// CTAs find the same.  The histograms of all of them are complete.
__device__ __forceinline__ void find_digit(const std::uint32_t* histogram, int wanted,
                                           const Row& row, SelectShared& shared) {
  const int bin = kBins - 1 - int(threadIdx.x);
  if (threadIdx.x == 0) shared.digit = -1;
  const int count = sum_of_ctas(histogram + bin, row);
  const int before = sum_up_to(count, shared) - count;
  if (before < wanted && before + count >= wanted) {
    shared.digit = bin;
    shared.above = before;
    shared.digit_count = count;
  }
  __syncthreads();
}

}  // namespace headsplit::kernels::indexer
