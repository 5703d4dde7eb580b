#pragma once

#include "kernels/mla_dense/fp8_shape.h"
#include "kernels/mla_dense/split_arguments.h"

/// Rows of the FP8 cache by an index list into shared memory.
namespace headsplit::kernels::dense {

/// Of an entry that counts for nothing.
constexpr std::int32_t kNoRow = -1;
/// Rows that a warp gathers at a time.
constexpr int kGatheredRows = 16;

/// The slot of an entry of the list; kNoRow where it is none, or where `real` is false.
__device__ __forceinline__ std::int32_t listed_slot(const SplitArguments& arguments,
                                                    const std::int32_t* entry, bool real) {
  const std::int32_t slot = real ? __ldg(entry) : kNoRow;
  const bool counts =
      static_cast<std::uint32_t>(slot) < static_cast<std::uint32_t>(arguments.slot_count);
  return counts ? slot : kNoRow;
}

/// 16 bytes of the row with this slot, or zeros.
__device__ __forceinline__ void gather_chunk(const SplitArguments& arguments, std::uint32_t row,
                                             std::int32_t slot, int chunk) {
  const auto* source = reinterpret_cast<const unsigned char*>(arguments.cache) +
                       std::int64_t{max(slot, 0)} * fp8::kRowBytes + chunk * 16;
  ptx::cp_async_16_or_zeros(row + chunk * 16, source, slot >= 0);
}

/// Starts a warp's copies of rows that follow each other from `rows` on.  slot: of row lane % 16;
/// rows without one become zeros.  512 bytes of a row at a time, then the rest of three rows.
__device__ __forceinline__ void gather_rows(const SplitArguments& arguments, std::uint32_t rows,
                                            std::int32_t slot, int lane) {
  constexpr std::uint32_t kAll = 0xFFFFFFFF;
  constexpr int kTailChunks = (fp8::kRowBytes - fp8::kLatent) / 16;
  constexpr int kTailRows = 32 / kTailChunks;
  static_assert(fp8::kLatent == 32 * 16 && kTailChunks * 16 == fp8::kRowBytes - fp8::kLatent);
#pragma unroll
  for (int row = 0; row < kGatheredRows; ++row) {
    gather_chunk(arguments, rows + row * fp8::kRowBytes, __shfl_sync(kAll, slot, row), lane);
  }
#pragma unroll
  for (int first = 0; first < kGatheredRows; first += kTailRows) {
    const int row = first + lane / kTailChunks;
    const std::int32_t of_row = __shfl_sync(kAll, slot, row);
    if (lane >= kTailRows * kTailChunks || row >= kGatheredRows) continue;
    gather_chunk(arguments, rows + row * fp8::kRowBytes, of_row,
                 fp8::kLatent / 16 + lane % kTailChunks);
  }
}

}  // namespace headsplit::kernels::dense
