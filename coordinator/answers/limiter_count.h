#pragma once

#include <span>
#include <string>
#include <vector>

#include "coordinator/erosion.h"

namespace headsplit::coordinator {

/// Which limiter holds under a layout: points (repeats together) of each.
struct LimiterCount {
  std::string model;
  std::string kernel;
  KvDtype kv_dtype = KvDtype::bf16;
  int query_tokens = 1;
  std::string layout;
  int local_heads = 0;
  Limiter mostly = Limiter::unknown;
  int memory = 0;
  int tensor = 0;
  int dequantisation = 0;
  int overhead = 0;
  int unknown = 0;

  bool operator==(const LimiterCount&) const = default;
};
BOOST_DESCRIBE_STRUCT(LimiterCount, (),
                      (model, kernel, kv_dtype, query_tokens, layout, local_heads, mostly, memory,
                       tensor, dequantisation, overhead, unknown))

/// By model, kernel, cache type, query tokens and layout, in the order of the cells.
std::vector<LimiterCount> limiters_of(std::span<const ErosionCell> cells);

}  // namespace headsplit::coordinator
