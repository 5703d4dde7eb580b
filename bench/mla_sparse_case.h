#pragma once

#include <cstdint>
#include <vector>

#include "agent/device.h"
#include "core/ceilings.h"
#include "core/row.h"
#include "kernels/kernel.h"

namespace headsplit::bench {

/// A shape of mla_sparse, DeepSeek-V3.2 widths, equal lengths.
struct MlaSparseCase {
  int batch = 1;
  int query_tokens = 1;
  int local_heads = 64;
  std::int64_t context = 32768;
  int top_k = 2048;
  KvDtype kv_dtype = KvDtype::fp8;
  double peer_us = 0;  ///< somebody else's time for it; 0: none
};

/// What was measured of one: medians, L2 flushed before each launch.
struct MlaSparseResult {
  MlaSparseCase shape;
  kernels::Config config;
  double time_us = 0;  ///< split and combine together
  double time_warm_us = 0;
  double split_us = 0;  ///< 0: nothing was split
  double combine_us = 0;
  double tflops = 0;
  double gbps = 0;  ///< of the least bytes, each query token's rows once
  double error_vs_reference = 0;
  double roofline_fraction = 0;  ///< of the time that the ceilings allow
  Limiter limiter = Limiter::unknown;

  double ratio() const { return shape.peer_us > 0 ? time_us / shape.peer_us : 0; }
};

/// Verifies a few rows against the fp64 reference, then times.
/// Fails: what binding, launching or verifying fails with.
Result<MlaSparseResult> measure_mla_sparse(agent::Device& device, const Ceilings& ceilings,
                                           const MlaSparseCase& shape);

/// Prints what is claimed of mla_sparse on an H200 (docs/mla-sparse.md), a line a claim; gives
/// whether all were reached.
bool judge_mla_sparse(const std::vector<MlaSparseResult>& results);

}  // namespace headsplit::bench
