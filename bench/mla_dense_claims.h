#pragma once

#include <vector>

#include "bench/mla_dense_case.h"

namespace headsplit::bench {

/// A shape beside somebody else's time for it.
struct Compared {
  MlaDenseResult result;
  double peer_us = 0;
  double roofline_fraction = 0;  ///< of the time that the measured ceilings allow

  double ratio() const { return result.time_us / peer_us; }
};

/// Prints what is claimed of mla_dense on an H200 (docs/mla-dense.md), a line a claim: what was
/// reached and the limit.  A claim of which no shape was measured is left out.  Gives whether all
/// were reached.
bool judge_mla_dense(const std::vector<Compared>& rows);

/// A shape on the bf16 cache and on one of FP8.
struct OnBothCaches {
  MlaDenseResult bf16;
  MlaDenseResult fp8;

  double speedup() const { return bf16.time_us / fp8.time_us; }
};

/// The same for what is claimed of the FP8 cache (docs/mla-dense-fp8.md).
bool judge_mla_dense_fp8(const std::vector<OnBothCaches>& rows);

}  // namespace headsplit::bench
