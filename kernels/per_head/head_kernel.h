#pragma once

#include <span>
#include <string_view>

#include "kernels/per_head/hopper_arguments.h"
#include "kernels/per_head/split_arguments.h"

/// The device side of per_head as host code sees it.  The tables are in the .cu files.
namespace headsplit::kernels::per_head {

/// One split kernel.  Its launch: item_begin's CTAs, `threads` threads, shared_bytes(stages) bytes
/// of dynamic shared memory.
struct HeadKernel {
  std::string_view name;  ///< as Config names it
  int d_k_max = 128;      ///< widest keys that it takes
  int d_v_max = 128;
  bool exact_widths = false;  ///< it takes no narrower ones
  int rows_min = 1;           ///< packed rows of a sequence that it is for: from
  int rows_limit = 1 << 30;   ///< to
  int rows = 64;              ///< packed rows of a CTA
  int block_rows = 16;        ///< rows are padded to a multiple of this
  int tokens = 64;            ///< of one step
  int threads = 128;
  int ctas_per_sm = 1;
  int fixed_bytes = 0;  ///< shared memory besides the stages
  int stage_bytes = 0;
  int stages_min = 2;
  int stages_max = 4;
  double cta_bytes_per_us = 30e3;  ///< that a CTA without others on its SM reads
  double block_us = 0.5;           ///< of a step with tokens in time: a block of rows
  double item_us = 1;              ///< of PlanCost
  double start_us = 2;             ///< of PlanCost
  /// One of the two.  hopper: compute capability 9.0 and no other; it takes tensor maps, and tiles
  /// of whole query tokens.
  void (*portable)(SplitArguments) = nullptr;
  void (*hopper)(hopper::Arguments) = nullptr;

  int shared_bytes(int stages) const { return fixed_bytes + stages * stage_bytes; }
};

/// With mma.sync, from sm_80 on; the narrowest first.
std::span<const HeadKernel> portable_kernels_to_128();
std::span<const HeadKernel> portable_kernels_to_256();

}  // namespace headsplit::kernels::per_head
