#pragma once

#include <span>
#include <string_view>

#include "kernels/mla_dense/split_arguments.h"

/// The device side of mla_dense as host code sees it.  The tables are in the .cu files.
namespace headsplit::kernels::dense {

/// One split kernel.  Its launch: item_begin's CTAs, `threads` threads, shared_bytes(stages) bytes
/// of dynamic shared memory.
struct SplitKernel {
  std::string_view name;  ///< as Config names it
  int rows = 0;           ///< packed rows of a CTA
  int block_rows = 16;    ///< rows are padded to a multiple of this
  int tokens = 0;         ///< of one step
  int threads = 0;
  int ctas_per_sm = 1;
  int fixed_bytes = 0;  ///< shared memory besides the stages
  int stage_bytes = 0;
  int stages_min = 2;
  int stages_max = 8;
  int scratch_bytes = 0;              ///< of device memory, a CTA
  double step_us = 1;                 ///< of PlanCost
  double alone_step_us = 0;           ///< of PlanCost
  double item_us = 2;                 ///< of PlanCost
  double start_us = 1;                ///< of PlanCost
  double cache_bytes_per_us = 4.4e6;  ///< of PlanCost
  bool hopper = false;                ///< compute capability 9.0 and no other
  int compute_major_min = 0;          ///< of the compute capability
  void (*function)(SplitArguments) = nullptr;

  constexpr int shared_bytes(int stages) const { return fixed_bytes + stages * stage_bytes; }
};

/// By d_latent and d_rope; the better ones for few rows first.
std::span<const SplitKernel> split_kernels_512_64();
std::span<const SplitKernel> split_kernels_512_0();
std::span<const SplitKernel> split_kernels_256_32();
/// The same for Hopper, 512 + 64.
std::span<const SplitKernel> split_kernels_hopper();
/// For the FP8 cache, 512 + 64: few rows, and on Hopper many.
std::span<const SplitKernel> split_kernels_fp8_512_64();
std::span<const SplitKernel> split_kernels_fp8_wide();
/// The same for the FP8 cache with one scale.
std::span<const SplitKernel> split_kernels_fp8_tensor();
std::span<const SplitKernel> split_kernels_fp8_tensor_wide();
/// The same with products in FP8, queries and weights rounded to e4m3.
std::span<const SplitKernel> split_kernels_fp8_mma();

/// For mla_sparse: `page_table` is [lists, pages_per_request], a list of slots for each request.
std::span<const SplitKernel> gather_kernels_512_64();
std::span<const SplitKernel> gather_kernels_hopper();
std::span<const SplitKernel> gather_kernels_fp8_512_64();
std::span<const SplitKernel> gather_kernels_wide();

}  // namespace headsplit::kernels::dense
