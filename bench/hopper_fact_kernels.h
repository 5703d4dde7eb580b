#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

/// Kernels that measure what the Hopper kernel of mla_dense is built on (docs/hopper-facts.md).
/// Compute capability 9.0; each enqueues on `stream` and gives the launch's error.
namespace headsplit::bench {

/// A page of the cache: 64 tokens of 512 + 64 values.
constexpr int kPageBytes = 64 * 576 * 2;

/// CTA c reads pages order[c x pages_a_cta ...] once.
struct PagedRead {
  const unsigned char* pages;
  const std::int32_t* order;  ///< [ctas x pages_a_cta]
  int pages_a_cta;
  int ctas;
  std::uint32_t* sink;  ///< [ctas], a word of the last page
};
/// 128 threads, 16 bytes a copy, three pages of shared memory.
cudaError_t read_by_cp_async(const PagedRead& read, cudaStream_t stream);
/// The copy engine, a page a copy, three pages of shared memory.
cudaError_t read_by_bulk_copies(const PagedRead& read, cudaStream_t stream);

/// cycles: [1] of `count` products of one warpgroup.
enum class Product { m64n32k16_from_registers, m64n32k16_from_shared, m64n256k16 };
cudaError_t time_products(Product product, int count, std::uint64_t* cycles, cudaStream_t stream);

/// The products of the kernel's tiles of 64 rows and 32 tokens, on random operands and with nothing
/// else: one warpgroup's scores, two warpgroups' values.
cudaError_t multiply_tiles(int tiles, int ctas, float* sink, cudaStream_t stream);
constexpr double kTileFlops = 2.0 * 64 * 32 * (576 + 512);

/// cycles: [1] of `count` tiles of 64 tokens for few packed rows with the operands swapped, by each
/// of `groups` warpgroups: tokens, then latent dimensions, are the 64 rows of a product, and the
/// packed rows its columns, so that none are padded.  Products only.
enum class FewRows { rows_16, rows_32 };
cudaError_t time_swapped_tiles(FewRows rows, int groups, int count, std::uint64_t* cycles,
                               cudaStream_t stream);

/// cycles: [1] of `count` hand-overs from one warp to another.
enum class HandOver { mbarrier, named_barrier };
cudaError_t time_hand_overs(HandOver by, int count, std::uint64_t* cycles, cudaStream_t stream);

/// cycles: [ctas, 2], a warp a CTA goes twice through kCodeBytes of code without a branch.
constexpr int kCodeBytes = 32 * 1024;
cudaError_t time_code(int ctas, std::uint64_t* cycles, std::uint32_t* sink, cudaStream_t stream);

/// Nothing but the launches of a split and a combine kernel.
enum class Launches { one, two, two_overlapped };
cudaError_t launch_nothing(Launches launches, int ctas, cudaStream_t stream);

}  // namespace headsplit::bench
