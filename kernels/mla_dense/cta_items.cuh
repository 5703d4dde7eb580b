#pragma once

#include "kernels/mla_dense/split_arguments.h"
#include "kernels/split/cta_items.cuh"

namespace headsplit::kernels::dense {

using CtaItems = split::CtaItems<SplitArguments>;

}  // namespace headsplit::kernels::dense
