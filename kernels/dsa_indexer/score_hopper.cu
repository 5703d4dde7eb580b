// Scores of the indexer on Hopper (shapes and types: arguments.h; pages of keys: shape.h):
//   score_tj = (sum_h w_th x relu(q_th . k_j)) x scale_j
// Instructions: wgmma m64nNk32 (e4m3), tokens on M from registers, heads on N; cp.async.bulk.
// Bound: bytes up to two query tokens (132 a token: 414 cycles for 64 tokens at 4.57 TB/s on 132
// SMs, against 128 of the tensor pipe for each query token of 64 heads).  Arithmetic and
// measurements: docs/dsa-indexer.md.

#include "kernels/device/tile_layout.h"
#include "kernels/device/wgmma.cuh"
#include "kernels/dsa_indexer/score_kernel.h"
#include "kernels/dsa_indexer/score_warp.cuh"

namespace headsplit::kernels::indexer {
namespace {

constexpr int kCtasPerSm = 4;
/// Four warps that compute, and one that asks for tiles.
constexpr int kCtaThreads = kThreads + 32;

#if __CUDA_ARCH_FEAT_SM90_ALL || !defined(__CUDA_ARCH__)

constexpr int kSteps = kDim / 32;
/// Named barrier of the warps that compute.
constexpr int kComputeBarrier = 1;

/// Queries of a group into shared memory, a row of 128 bytes a head, swizzled.  Words of each half
/// of a row are transposed (4 x 4), as KeyShare has its values; heads that there are not are 0.
template <int kHeads>
__device__ __forceinline__ void load_queries(const ScoreArguments& arguments, std::uint32_t queries,
                                             std::int64_t first_row, int query_tokens) {
  for (int i = threadIdx.x; i < query_tokens * kHeads * 2; i += kThreads) {
    const int row = i / 2;
    const int half = i % 2;
    const int head = row % kHeads;
    uint4 from[4] = {};
    if (head < arguments.heads) {
      const auto* const source = reinterpret_cast<const uint4*>(
          arguments.query + ((first_row + row / kHeads) * arguments.heads + head) * kDim);
#pragma unroll
      for (int c = 0; c < 4; ++c) from[c] = __ldg(source + 4 * half + c);
    }
    const std::uint32_t chunks[4][4] = {{from[0].x, from[1].x, from[2].x, from[3].x},
                                        {from[0].y, from[1].y, from[2].y, from[3].y},
                                        {from[0].z, from[1].z, from[2].z, from[3].z},
                                        {from[0].w, from[1].w, from[2].w, from[3].w}};
#pragma unroll
    for (int c = 0; c < 4; ++c) {
      float values[4];
#pragma unroll
      for (int e = 0; e < 4; ++e) values[e] = __uint_as_float(chunks[c][e]);
      ptx::store_shared(queries + swizzled(row, 4 * half + c), values);
    }
  }
}

/// Products of 64 tokens with all heads of one query token; the four warps together.
template <int kHeads>
__device__ __forceinline__ void multiply(float (&products)[kHeads / 2], const KeyShare& share,
                                         std::uint32_t queries) {
  const std::uint64_t heads = wgmma::k_major<wgmma::Swizzle::bytes_128>(queries);
  wgmma::fence();
#pragma unroll
  for (int step = 0; step < kSteps; ++step) {
    const int half = step / 2;
    const int word = step % 2 * 2;
    const std::uint32_t keys[4] = {share.words[0][half][word], share.words[1][half][word],
                                   share.words[0][half][word + 1], share.words[1][half][word + 1]};
    wgmma::e4m3_product(products, keys, heads + step * 32 / 16, step > 0);
  }
  wgmma::commit();
  wgmma::wait<0>();
  wgmma::written(products);
}

/// The CTA: four warps that compute, and one that asks for tiles.
template <int kHeads>
struct Cta {
  const ScoreArguments& arguments;
  std::uint32_t shared;
  int warp;
  int lane;
  ScoreMemory memory;
  int first_query;
  int queries;  ///< of this CTA
  TileRange tiles;

  __device__ std::uint32_t weights() const { return shared + memory.weights(); }
  __device__ std::uint32_t stages() const { return shared + memory.stages(); }
  /// The tile in this stage has landed.
  __device__ std::uint32_t full(int stage) const { return shared + memory.barriers() + 8 * stage; }
  /// All threads of the four warps have it in registers.
  __device__ std::uint32_t empty(int stage) const { return full(kStagesMax + stage); }

  __device__ void load() const {
    TileLoader loader{arguments, stages(), full(0), TilePlace(arguments, tiles.begin), tiles.end};
    std::uint32_t parity = 1;  // a ring begins empty
    while (loader.place.tile < tiles.end) {
      wait(empty(loader.stage), parity);
      const int stage = loader.stage;
      loader.start_bulk(lane);
      if (loader.stage <= stage) parity ^= 1;
    }
  }

  __device__ __forceinline__ void enter_request(int request) const {
    const std::int64_t row = std::int64_t{request} * arguments.query_tokens + first_query;
    ptx::barrier_sync(kComputeBarrier, kThreads);  // nobody reads the queries before these
    load_queries<kHeads>(arguments, shared, row, queries);
    load_weights(arguments, weights(), kHeads, row, queries);
    ptx::fence_async_proxy();
    ptx::barrier_sync(kComputeBarrier, kThreads);
  }

  __device__ __forceinline__ void score(const KeyShare& share, const TilePlace& place) const {
    const ScorePlace target(arguments, place, first_query, warp, lane);
    for (int query = 0; query < queries; ++query) {
      float products[kHeads / 2];
      multiply<kHeads>(products, share, shared + query * kHeads * kDim);
      float sums[2] = {};
      add_heads(sums, products, weights() + query * kHeads * 4, lane);
      store_scores(sums, share.scale, target, query * arguments.score_stride, lane);
    }
  }

  __device__ __forceinline__ void compute() const {
    RingPosition at;
    int request = -1;
    for (TilePlace place(arguments, tiles.begin); place.tile < tiles.end; place.advance()) {
      if (place.request != request) {
        request = place.request;
        enter_request(request);
      }
      KeyShare share;
      wait(full(at.stage), at.parity);
      load_keys(share, stages() + at.stage * kStageBytes, warp, lane);
      ptx::mbarrier_arrive(empty(at.stage));
      at.advance(arguments.stages);
      score(share, place);
    }
  }
};

#endif

template <int kHeads>
__global__ void __launch_bounds__(kCtaThreads, kCtasPerSm)
    score_kernel(const __grid_constant__ ScoreArguments arguments) {
#if __CUDA_ARCH_FEAT_SM90_ALL
  extern __shared__ __align__(1024) unsigned char shared_bytes[];
  ptx::allow_dependent_launch();  // the selection waits for the end of this kernel itself
  const int first_query = blockIdx.y * arguments.group_tokens;
  const Cta<kHeads> cta{
      .arguments = arguments,
      .shared = ptx::shared_address(shared_bytes),
      .warp = __shfl_sync(0xFFFFFFFF, int(threadIdx.x) / 32, 0),
      .lane = int(threadIdx.x) % 32,
      .memory = {.heads = kHeads, .group_tokens = arguments.group_tokens},
      .first_query = first_query,
      .queries = min(arguments.group_tokens, arguments.query_tokens - first_query),
      .tiles = TileRange::of_this_cta(arguments)};
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < arguments.stages; ++stage) {
      ptx::mbarrier_init(cta.full(stage), 1);
      ptx::mbarrier_init(cta.empty(stage), kThreads);
    }
    ptx::fence_barrier_init();
  }
  __syncthreads();
  if (cta.tiles.begin == cta.tiles.end) return;
  if (cta.warp == kWarps) {
    cta.load();
  } else {
    cta.compute();
  }
#endif
}

constexpr ScoreKernel kKernels[] = {
    {"wgmma in e4m3", 16, kDim, kCtaThreads, kCtasPerSm, score_kernel<16>},
    {"wgmma in e4m3", 32, kDim, kCtaThreads, kCtasPerSm, score_kernel<32>},
    {"wgmma in e4m3", 64, kDim, kCtaThreads, kCtasPerSm, score_kernel<64>},
};

}  // namespace

std::span<const ScoreKernel> hopper_score_kernels() { return kKernels; }

}  // namespace headsplit::kernels::indexer
