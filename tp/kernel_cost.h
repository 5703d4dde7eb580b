#pragma once

#include <string>
#include <vector>

#include "core/point.h"
#include "tp/model.h"
#include "tp/projection_cost.h"
#include "tp/work.h"

namespace headsplit::tp {

/// What a kernel's cost depends on beside the point.
struct CostOptions {
  std::int64_t expanded_tokens = 0;  ///< mla_mixed: tokens of each request kept expanded
  WeightDtype weight_dtype = WeightDtype::bf16;  ///< mla_layer
};

/// Kernels with a cost here, sorted as the design lists them.
const std::vector<std::string>& costed_kernels();

/// The decode kernel of a model's own attention: mla_dense, or mha_, gqa_ or mqa_decode.
std::string core_kernel(const Model& model);

/// Work of one rank for one layer of a point: the attention core, or for mla_layer the projections
/// too.  When the query tokens are the whole context it is a prefill and the causal half counts.
/// Fails: config (as rank_problem; unknown kernel, with the nearest; sparse kernels for a model
/// without an indexer; a cache that the kernel does not read).
Result<Work> kernel_work(const Model& model, const Point& point, const CostOptions& options = {},
                         int rank = 0);

/// Whether the point is the prefill of a whole prompt: as many query tokens as context, above 1.
bool is_prefill(const Point& point);

}  // namespace headsplit::tp
