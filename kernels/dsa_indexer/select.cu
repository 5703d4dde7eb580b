// The top_k tokens of each row of scores (shapes and types: arguments.h), exactly.  A sample of the
// row says what the smallest chosen score may be; what is not below that is kept, a histogram of it
// finds the few that are close to the threshold, and these are ranked.  Where that fails, as for
// many equal scores, a radix search on the bits of the scores does it.  A row is shared out to the
// CTAs of a cluster, which add up their histograms.  Of equal scores the earlier token wins; the
// choice is written in the order of tokens.
// Bound: waits for barriers, and instructions, about ten a token.  Measurements:
// docs/dsa-indexer.md.

#include "kernels/dsa_indexer/select_guess.cuh"
#include "kernels/dsa_indexer/select_search.cuh"

namespace headsplit::kernels::indexer {
namespace {

/// A list that has room for every token.
__device__ __forceinline__ void write_all(const Row& row) {
  for (int i = row.cta * kSelectThreads + int(threadIdx.x); i < row.wanted;
       i += row.ctas * kSelectThreads) {
    if (i < row.tokens) {
      row.write(i, i);
    } else {
      row.chosen[i] = kNoToken;
    }
  }
}

/// Before the scores are there.
__device__ __forceinline__ void clear(SelectShared& shared) {
  for (int i = threadIdx.x; i < kBins; i += kSelectThreads) shared.histogram[i] = 0;
  for (int i = threadIdx.x; i < kBins; i += kSelectThreads) shared.sample[i] = 0;
  for (int i = threadIdx.x; i < kBitmapWords; i += kSelectThreads) shared.bitmap[i] = 0;
  if (threadIdx.x == 0) shared.list_count = 0;
  if (threadIdx.x == 0) shared.member_count = 0;
}

__global__ void __launch_bounds__(kSelectThreads, 1)
    select_kernel_of_rows(const __grid_constant__ SelectArguments arguments) {
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  SelectShared& shared = *reinterpret_cast<SelectShared*>(shared_bytes);
  const int ctas = ptx::cluster_size();
  const std::int64_t index = blockIdx.x / ctas;
  const std::int64_t request = index / arguments.query_tokens;
  const Row row{.scores = arguments.scores + index * arguments.score_stride,
                .tokens = __ldg(arguments.ends + index),
                .wanted = arguments.top_k,
                .cta = ptx::cluster_rank(),
                .ctas = ctas,
                .chosen = arguments.chosen + index * arguments.top_k,
                .pages = arguments.page_table + request * arguments.pages_per_request,
                .page_shift = arguments.page_shift};
  const Piece piece = Piece::of_this_warp(row);
  clear(shared);
  ptx::wait_for_previous_kernel();
  if (row.cta == 0 && threadIdx.x == 0) arguments.counts[index] = min(row.tokens, row.wanted);
  if (row.tokens <= row.wanted) {
    write_all(row);
    return;
  }
  if (!select_by_guess(row, piece, shared)) select_by_search(row, piece, shared);
}

}  // namespace

SelectKernel select_kernel() {
  return {.shared_bytes = sizeof(SelectShared), .function = select_kernel_of_rows};
}

}  // namespace headsplit::kernels::indexer
