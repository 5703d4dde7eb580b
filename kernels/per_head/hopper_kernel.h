#pragma once

#include <span>

#include "kernels/per_head/hopper_arguments.h"

namespace headsplit::kernels::per_head::hopper {

/// The kernel for one pair of widths.  Its launch: a CTA for each of item_begin's ranges, `threads`
/// threads, `shared_bytes` bytes of dynamic shared memory.
struct Kernel {
  int d_k = 0;
  int d_v = 0;
  int rows = 0;        ///< packed rows of a CTA
  int block_rows = 0;  ///< rows are padded to a multiple of this
  int tokens = 0;      ///< of one step
  int threads = 0;
  int shared_bytes = 0;
  void (*function)(Arguments) = nullptr;
};

/// One a pair of widths, for compute capability 9.0 and no other.
std::span<const Kernel> kernels();

}  // namespace headsplit::kernels::per_head::hopper
