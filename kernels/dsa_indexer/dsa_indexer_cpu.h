#pragma once

#include <memory>

#include "core/result.h"
#include "kernels/dsa_indexer/indexer_kernel.h"

namespace headsplit::kernels {

/// Fails: config (indexer_kernel.h).
Result<void> dsa_indexer_cpu_supports(const RankProblem& shape);

/// The indexer on the CPU: Part::split scores all tokens in fp32, a worker some pages of a request;
/// Part::combine selects, a worker some rows.  Fails: config (not supported; not enough memory).
Result<std::unique_ptr<BoundKernel>> bind_dsa_indexer_cpu(const Problem& problem,
                                                          const BindOptions& options);

namespace indexer {

/// As above.
Result<std::unique_ptr<IndexerKernel>> bind_cpu(const Problem& problem, const BindOptions& options);

}  // namespace indexer
}  // namespace headsplit::kernels
