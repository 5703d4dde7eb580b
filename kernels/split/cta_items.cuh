#pragma once

#include "kernels/split/work_item.h"

namespace headsplit::kernels::split {

/// What a CTA of a split kernel has to do: items begin .. end - 1.  A plan with one item a CTA is
/// in the arguments themselves, and costs no trip to memory at the start.
template <class Arguments>
struct CtaItems {
  const Arguments& arguments;
  int begin;
  int end;

  __device__ static CtaItems of_this_cta(const Arguments& arguments) {
    const int cta = blockIdx.x;
    if (arguments.items == nullptr) return {arguments, cta, cta + 1};
    return {arguments, arguments.item_begin[cta], arguments.item_begin[cta + 1]};
  }
  __device__ WorkItem get(int item) const {
    return arguments.items == nullptr ? arguments.inline_items[item] : arguments.items[item];
  }
};

}  // namespace headsplit::kernels::split
