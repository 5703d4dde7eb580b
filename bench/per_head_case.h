#pragma once

#include <cstdint>
#include <string_view>

#include "agent/device.h"
#include "kernels/kernel.h"

namespace headsplit::bench {

/// A shape of the per-head kernels, equal lengths; query tokens = context: causal prefill.
struct PerHeadCase {
  std::string_view kernel;  ///< of the registry
  std::string_view what;    ///< whose shape it is
  int heads = 32;
  int kv_heads = 8;
  int d_k = 128;
  int d_v = 128;
  int batch = 64;
  int query_tokens = 1;
  int context = 8192;
  double peer_us = 0;  ///< of cuDNN on such a GPU; 0: not measured

  bool is_prefill() const { return query_tokens == context; }
};

/// What was measured of one.  Times: medians, L2 flushed before each launch unless it says warm.
struct PerHeadResult {
  PerHeadCase shape;
  kernels::Config config;
  double time_us = 0;
  double time_p10_us = 0;
  double time_warm_us = 0;
  double combine_us = 0;  ///< 0: nothing was split
  double tflops = 0;      ///< useful; of prefill the causal part
  double gbps = 0;        ///< of the least bytes
  double error_vs_reference = 0;
};

/// Verifies some rows against the fp64 reference, then times.
/// Fails: what binding, launching or verifying fails with.
Result<PerHeadResult> measure_per_head(agent::Device& device, const PerHeadCase& shape);

}  // namespace headsplit::bench
