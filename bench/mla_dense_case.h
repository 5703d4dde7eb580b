#pragma once

#include <cstdint>

#include "agent/device.h"
#include "kernels/kernel.h"

namespace headsplit::bench {

/// A shape of mla_dense, DeepSeek-V3 widths, equal lengths.
struct MlaDenseCase {
  int batch = 128;
  int query_tokens = 1;
  int local_heads = 16;
  std::int64_t context = 4096;
  KvDtype kv_dtype = KvDtype::bf16;
  const char* kernel = "mla_dense";
};

/// What was measured of one.  Times: medians, L2 flushed before each launch unless it says warm.
struct MlaDenseResult {
  MlaDenseCase shape;
  kernels::Config config;
  double time_us = 0;  ///< split and combine together
  double time_p10_us = 0;
  double time_warm_us = 0;
  double split_us = 0;  ///< 0: nothing was split
  double combine_us = 0;
  double tflops = 0;
  double gbps = 0;  ///< of the least bytes
  double error_vs_reference = 0;
};

/// Verifies a few rows against the fp64 reference, then times.
/// Fails: what binding, launching or verifying fails with.
Result<MlaDenseResult> measure_mla_dense(agent::Device& device, const MlaDenseCase& shape);

}  // namespace headsplit::bench
