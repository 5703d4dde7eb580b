#pragma once

#include "kernels/mla_dense/split_arguments.h"

namespace headsplit::kernels::dense {

/// What a CTA of a split kernel has to do: items begin .. end - 1.  A plan with one item a CTA is
/// in the arguments themselves, and costs no trip to memory at the start.
struct CtaItems {
  const SplitArguments& arguments;
  int begin;
  int end;

  __device__ static CtaItems of_this_cta(const SplitArguments& arguments) {
    const int cta = blockIdx.x;
    if (arguments.items == nullptr) return {arguments, cta, cta + 1};
    return {arguments, arguments.item_begin[cta], arguments.item_begin[cta + 1]};
  }
  __device__ WorkItem get(int item) const {
    return arguments.items == nullptr ? arguments.inline_items[item] : arguments.items[item];
  }
};

}  // namespace headsplit::kernels::dense
