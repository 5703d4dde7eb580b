#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "coordinator/answers/turn.h"
#include "coordinator/erosion.h"

namespace headsplit::coordinator {

/// From which batch on another layout of as many ranks is faster than head parallelism: measured,
/// attention core of one layer; with emulated ranks no collective is in it.
struct BreakEven {
  std::string sweep;
  std::string model;
  std::string kernel;
  KvDtype kv_dtype = KvDtype::bf16;
  Ranks ranks = Ranks::emulated;
  int query_tokens = 1;
  std::int64_t context = 1;
  std::string from;  ///< head parallelism: tp8
  std::string to;    ///< the other: dp8, cp8, tp4xdp2
  Turns turns = Turns::never;
  std::optional<double> batch;  ///< where turns is `at`, between neighbours on logarithmic scales
  int batch_low = 1;            ///< least and most that were measured of both
  int batch_high = 1;

  bool operator==(const BreakEven&) const = default;
};
BOOST_DESCRIBE_STRUCT(BreakEven, (),
                      (sweep, model, kernel, kv_dtype, ranks, query_tokens, context, from, to,
                       turns, batch, batch_low, batch_high))

/// Of each problem along batch and each layout of as many ranks as a head-parallel one.  A
/// break-even is where the other layout begins to stay faster.
std::vector<BreakEven> break_evens_of(std::span<const ErosionCell> cells);

}  // namespace headsplit::coordinator
