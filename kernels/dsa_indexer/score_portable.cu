// Scores of the indexer on any GPU from sm_80 on (shapes and types: arguments.h):
//   score_tj = (sum_h w_th x relu(q_th . k_j)) x scale_j
// e4m3 becomes f16 by moving bits: its value x 2^-8, exactly, denormals too; products are exact and
// sums are fp32.  Instructions: mma.sync m16n8k16 (f16), cp.async.
// Bound: shared memory, from which each warp reads the queries for 16 tokens.

#include "kernels/device/ptx.cuh"
#include "kernels/dsa_indexer/score_kernel.h"
#include "kernels/dsa_indexer/score_warp.cuh"

namespace headsplit::kernels::indexer {
namespace {

constexpr int kCtasPerSm = 2;
/// A head's query in f16; 16 bytes more than a multiple of 128, so that heads meet no bank twice.
constexpr int kQueryRowBytes = 2 * kDim + 16;
/// What products of two values are short of.
constexpr float kLift = 65536;

/// Four e4m3 values as f16, x 2^-8.
struct SmallHalves {
  std::uint32_t low;
  std::uint32_t high;
};

/// Of values in the high byte of each half.
__device__ __forceinline__ std::uint32_t moved_bits(std::uint32_t bytes) {
  return (bytes & 0x80008000) | (bytes >> 1 & 0x3F803F80);
}

__device__ __forceinline__ SmallHalves small_halves(std::uint32_t word) {
  return {moved_bits(__byte_perm(word, 0, 0x1404)), moved_bits(__byte_perm(word, 0, 0x3424))};
}

template <int kHeads>
__device__ __forceinline__ void load_queries(const ScoreArguments& arguments, std::uint32_t queries,
                                             std::int64_t first_row, int query_tokens) {
  constexpr int kWords = kDim / 4;
  for (int i = threadIdx.x; i < query_tokens * kHeads * kWords; i += kThreads) {
    const int row = i / kWords;
    const int head = row % kHeads;
    std::uint32_t word = 0;
    if (head < arguments.heads) {
      const std::uint8_t* const source =
          arguments.query + ((first_row + row / kHeads) * arguments.heads + head) * kDim;
      word = __ldg(reinterpret_cast<const std::uint32_t*>(source) + i % kWords);
    }
    const SmallHalves halves = small_halves(word);
    const std::uint32_t target = queries + row * kQueryRowBytes + i % kWords * 8;
    ptx::store_shared(target, halves.low);
    ptx::store_shared(target + 4, halves.high);
  }
}

/// Products of this warp's 16 tokens with all heads of one query token.
template <int kHeads>
__device__ __forceinline__ void multiply(float (&products)[kHeads / 2], const KeyShare& share,
                                         std::uint32_t queries, int lane) {
#pragma unroll
  for (float& product : products) product = 0;
#pragma unroll
  for (int pair = 0; pair < 4; ++pair) {  // of words
    const int half = pair / 2;
    std::uint32_t keys[2][4];
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int word = pair % 2 * 2 + i;
      const SmallHalves first = small_halves(share.words[0][half][word]);
      const SmallHalves second = small_halves(share.words[1][half][word]);
      keys[i][0] = first.low;
      keys[i][1] = second.low;
      keys[i][2] = first.high;
      keys[i][3] = second.high;
    }
#pragma unroll
    for (int tile = 0; tile < kHeads / 8; ++tile) {
      std::uint32_t query[4];
      ptx::load_shared(query, queries + (8 * tile + lane / 4) * kQueryRowBytes +
                                  (64 * half + lane % 4 * 16 + pair % 2 * 8) * 2);
      float(&d)[4] = *reinterpret_cast<float(*)[4]>(&products[4 * tile]);
      ptx::mma_m16n8k16_f16(d, keys[0], query[0], query[1]);
      ptx::mma_m16n8k16_f16(d, keys[1], query[2], query[3]);
    }
  }
}

template <int kHeads>
__device__ __forceinline__ void run(const ScoreArguments& arguments, std::uint32_t shared) {
  const ScoreMemory memory{
      .heads = kHeads, .query_row_bytes = kQueryRowBytes, .group_tokens = arguments.group_tokens};
  const std::uint32_t weights = shared + memory.weights();
  const std::uint32_t barriers = shared + memory.barriers();
  const std::uint32_t stages = shared + memory.stages();
  const int warp = __shfl_sync(0xFFFFFFFF, int(threadIdx.x) / 32, 0);
  const int lane = threadIdx.x % 32;
  const int first_query = blockIdx.y * arguments.group_tokens;
  const int queries = min(arguments.group_tokens, arguments.query_tokens - first_query);
  const TileRange tiles = TileRange::of_this_cta(arguments);
  if (tiles.begin == tiles.end) return;
  TileLoader loader{arguments, stages, barriers, TilePlace(arguments, tiles.begin), tiles.end};
  for (int stage = 0; stage < arguments.stages; ++stage) loader.start_chunks(threadIdx.x);
  RingPosition at;
  int request = -1;
  for (TilePlace place(arguments, tiles.begin); place.tile < tiles.end; place.advance()) {
    if (place.request != request) {
      request = place.request;
      const std::int64_t row = std::int64_t{request} * arguments.query_tokens + first_query;
      __syncthreads();  // nobody reads the queries of the request before
      load_queries<kHeads>(arguments, shared, row, queries);
      load_weights(arguments, weights, kHeads, row, queries);
      __syncthreads();
    }
    KeyShare share;
    wait(barriers + 8 * at.stage, at.parity);
    load_keys(share, stages + at.stage * kStageBytes, warp, lane);
    for (float& scale : share.scale) scale *= kLift;
    at.advance(arguments.stages);
    __syncthreads();  // the stage is in registers
    loader.start_chunks(threadIdx.x);
    const ScorePlace target(arguments, place, first_query, warp, lane);
    for (int query = 0; query < queries; ++query) {
      float products[kHeads / 2];
      multiply<kHeads>(products, share, shared + query * kHeads * kQueryRowBytes, lane);
      float sums[2] = {};
      add_heads(sums, products, weights + query * kHeads * 4, lane);
      store_scores(sums, share.scale, target, query * arguments.score_stride, lane);
    }
  }
}

template <int kHeads>
__global__ void __launch_bounds__(kThreads, kCtasPerSm)
    score_kernel(const __grid_constant__ ScoreArguments arguments) {
  extern __shared__ __align__(1024) unsigned char shared_bytes[];
  const std::uint32_t shared = ptx::shared_address(shared_bytes);
  ptx::allow_dependent_launch();  // the selection waits for the end of this kernel itself
  const ScoreMemory memory{
      .heads = kHeads, .query_row_bytes = kQueryRowBytes, .group_tokens = arguments.group_tokens};
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < arguments.stages; ++stage) {
      ptx::mbarrier_init(shared + memory.barriers() + 8 * stage, kThreads);
    }
  }
  __syncthreads();
  run<kHeads>(arguments, shared);
}

constexpr ScoreKernel kKernels[] = {
    {"mma.sync in f16", 16, kQueryRowBytes, kThreads, kCtasPerSm, score_kernel<16>},
    {"mma.sync in f16", 32, kQueryRowBytes, kThreads, kCtasPerSm, score_kernel<32>},
    {"mma.sync in f16", 64, kQueryRowBytes, kThreads, kCtasPerSm, score_kernel<64>},
};

}  // namespace

std::span<const ScoreKernel> portable_score_kernels() { return kKernels; }

}  // namespace headsplit::kernels::indexer
