#pragma once

#include "kernels/per_head/hopper_arguments.h"
#include "kernels/per_head/hopper_shape.h"

/// The warp that keeps the copy engine busy.
namespace headsplit::kernels::per_head::hopper {

/// Steps of an item come from its end to its begin: where masks are, all stages are still empty.
template <Shape kShape>
struct Producer {
  const Arguments& arguments;
  SharedMemory<kShape> memory;
  int lane;

  RingPosition keys{};
  RingPosition values{};
  std::uint32_t query_parity = 0;
  const std::int32_t* pages = nullptr;  ///< of the request
  int window = -1;                      ///< 32 entries of the page table, one a lane
  std::int32_t page_of_lane = 0;

  /// The page that holds the tokens from `token` on; -1 past the table's end.
  __device__ std::int32_t page(int token) {
    const int column = token >> arguments.page_shift;
    if (column / 32 != window) {
      window = column / 32;
      const int mine = window * 32 + lane;
      page_of_lane = mine < arguments.pages_per_request ? __ldg(pages + mine) : -1;
    }
    return __shfl_sync(0xFFFFFFFF, page_of_lane, column % 32);
  }

  /// Boxes of one step into `target`, slices of 64 dims behind each other.
  template <int kDims>
  __device__ void copy_step(const CUtensorMap& map, std::uint32_t target, std::uint32_t barrier,
                            const WorkItem& item, int token) {
    const int page_tokens = 1 << arguments.page_shift;
    const int box_tokens = min(page_tokens, kShape.tokens);
    if (lane == 0)
      ptx::mbarrier_arrive_expect(barrier, kDims / kTileRowValues * kShape.slice_bytes());
    __syncwarp();
    for (int at = 0; at < kShape.tokens; at += box_tokens) {
      const std::int32_t from = page(token + at);
      const int slot = (token + at) & (page_tokens - 1);
      if (lane == 0) {
#pragma unroll
        for (int slice = 0; slice < kDims / kTileRowValues; ++slice) {
          ptx::copy_box(target + slice * kShape.slice_bytes() + at * kTileRowBytes, &map,
                        {slice * kTileRowValues, slot, item.kv_head, from}, barrier);
        }
      }
    }
  }
  __device__ void copy_keys(const WorkItem& item, int token) {
    wait(memory.keys_empty(keys.stage), keys.parity ^ 1);
    copy_step<kShape.d_k>(arguments.keys, memory.keys(keys.stage), memory.keys_full(keys.stage),
                          item, token);
    keys.advance(kShape.stages);
  }
  __device__ void copy_values(const WorkItem& item, int token) {
    wait(memory.values_empty(values.stage), values.parity ^ 1);
    copy_step<kShape.d_v>(arguments.values, memory.values(values.stage),
                          memory.values_full(values.stage), item, token);
    values.advance(kShape.stages);
  }
  __device__ void copy_query(const WorkItem& item) {
    wait(memory.query_empty(), query_parity ^ 1);
    query_parity ^= 1;
    if (lane != 0) return;
    const int bytes = kShape.d_k / kTileRowValues * arguments.tile_rows * kTileRowBytes;
    ptx::mbarrier_arrive_expect(memory.query_full(), bytes);
#pragma unroll
    for (int slice = 0; slice < kShape.d_k / kTileRowValues; ++slice) {
      ptx::copy_box(memory.query(slice), &arguments.query,
                    {slice * kTileRowValues, item.kv_head * arguments.group_heads,
                     item.row_begin / arguments.group_heads, item.request},
                    memory.query_full());
    }
  }

  __device__ void run() {
    if (lane == 0) {
      ptx::prefetch_tensor_map(&arguments.query);
      ptx::prefetch_tensor_map(&arguments.keys);
      ptx::prefetch_tensor_map(&arguments.values);
    }
    const int end = arguments.item_begin[blockIdx.x + 1];
    for (int i = arguments.item_begin[blockIdx.x]; i < end; ++i) {
      const WorkItem item = arguments.items[i];
      if (item.token_begin >= item.token_end) continue;
      pages = arguments.page_table + std::int64_t{item.request} * arguments.pages_per_request;
      window = -1;
      const int steps = (item.token_end - item.token_begin + kShape.tokens - 1) / kShape.tokens;
      const int last = item.token_begin + (steps - 1) * kShape.tokens;
      copy_query(item);
      copy_keys(item, last);
      for (int token = last; token > item.token_begin; token -= kShape.tokens) {
        copy_keys(item, token - kShape.tokens);
        copy_values(item, token);
      }
      copy_values(item, item.token_begin);
    }
  }
};

}  // namespace headsplit::kernels::per_head::hopper
