#pragma once

#include "kernels/per_head/portable_team.cuh"

namespace headsplit::kernels::per_head {

/// The loading side of a warp: goes over the steps of all items of its CTA, some ahead of where the
/// warp computes, and copies its block of tokens of each.
template <TileShape kShape>
struct Loader {
  static constexpr int kParts = kBlock * kTileRowChunks / 32;  ///< four tokens each
  static constexpr int kPartTokens = 32 / kTileRowChunks;

  const SplitArguments& arguments;
  CtaItems items;
  SharedMemory<kShape> memory;
  Team team;
  std::uint64_t policy;  ///< of the lines in L2

  // Of the step:
  int item;
  int token;     ///< first of this warp's block
  int step_end;  ///< of the item: a team has steps that begin before it
  int sequence;
  std::int32_t page;  ///< has been read when the copy starts

  __device__ int team_token() const { return token - team.first_row(); }

  /// Looks up the page of the block, unless it begins past the end.
  __device__ void find() {
    if (token >= step_end) return;
    const int request = sequence / arguments.kv_heads;
    page = __ldg(arguments.page_table + std::int64_t{request} * arguments.pages_per_request +
                 (token >> arguments.page_shift));
  }

  /// To the first step of this item, or of the next that has one for this team.
  __device__ void enter() {
    for (; item < items.end; ++item) {
      const WorkItem next = items.get(item);
      if (team.first_token(next) >= next.token_end) continue;
      token = team.first_token(next) + team.first_row();
      step_end = next.token_end;
      sequence = next.request;
      find();
      return;
    }
    token = step_end = 0;
  }

  __device__ void advance() {
    if (item >= items.end) return;
    token += kStepTokens;
    if (team_token() < step_end) {
      find();
    } else {
      ++item;
      enter();
    }
  }

  /// A block of one tensor: eight lanes for 128 bytes of a token.  Tokens past the end repeat the
  /// last one: their weights will be 0, and what is in unused slots may be NaN.
  template <int kSlices>
  __device__ void copy(const std::uint16_t* tensor, std::int64_t row, int width,
                       std::uint32_t block) const {
    const int chunk = team.lane % kTileRowChunks;
    const int last = step_end - 1 - token;
#pragma unroll
    for (int part = 0; part < kParts; ++part) {
      const int block_token = part * kPartTokens + team.lane / kTileRowChunks;
      const std::uint64_t source =
          ptx::opaque(reinterpret_cast<std::uint64_t>(tensor) +
                      static_cast<std::uint64_t>((row + min(block_token, last)) * width * 2 +
                                                 chunk * kChunkBytes));
      const std::uint32_t target = ptx::opaque(block + swizzled(block_token, chunk));
#pragma unroll
      for (int slice = 0; slice < kSlices; ++slice) {
        if (slice * kTileRowValues + chunk * 8 >= width) continue;
        ptx::cp_async_16(target + slice * TileShape::kSliceBytes, source + slice * kTileRowBytes,
                         policy);
      }
    }
  }

  /// Starts the copy of this warp's block of the step, a group of its own; then to the next step.
  __device__ void start(int stage) {
    if (token < step_end) {
      const int head = sequence % arguments.kv_heads;
      const int slot = token & ((1 << arguments.page_shift) - 1);
      const std::int64_t row =
          ((std::int64_t{page} * arguments.kv_heads + head) << arguments.page_shift) + slot;
      const std::uint32_t block = memory.block(stage, team.warp);
      copy<kShape.key_slices()>(arguments.key, row, arguments.d_k, block);
      copy<kShape.value_slices()>(arguments.value, row, arguments.d_v,
                                  block + kShape.key_slices() * TileShape::kSliceBytes);
    }
    ptx::cp_async_commit();
    advance();
  }
};

/// Waits until all but the latest `stages` - 2 groups of this thread's copies have landed.
__device__ __forceinline__ void wait_for_step(int stages) {
  if (stages == 2) {
    ptx::cp_async_wait<0>();
  } else if (stages == 3) {
    ptx::cp_async_wait<1>();
  } else {
    ptx::cp_async_wait<2>();
  }
}
constexpr int kStagesMax = 4;

}  // namespace headsplit::kernels::per_head
