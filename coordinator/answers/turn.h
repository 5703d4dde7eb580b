#pragma once

#include <map>
#include <optional>

#include "core/json.h"

namespace headsplit::coordinator {

/// Whether one of two becomes the faster one along an axis.  always, never: over all values that
/// were measured.
enum class Turns { at, always, never };
BOOST_DESCRIBE_ENUM(Turns, at, always, never)

/// log(time of the other / time of the one) by value of the axis: below 0 where the other is
/// faster.  At least one entry.
using Advantages = std::map<double, double>;

/// Where the other begins to be faster.
struct Turn {
  Turns turns = Turns::never;
  std::optional<double> at;            ///< between the two values below, on logarithmic scales
  double low = 0;                      ///< at: the last value before; else the least measured
  double high = 0;                     ///< at: the first value after; else the largest measured
  std::optional<double> slower_again;  ///< the first value behind `high` where it is slower again
};

/// The first value from which the other is faster (equal counts), whatever comes after it.
Turn first_turn(const Advantages& advantages);

/// The value from which the other stays faster up to the last one; equal does not count.
Turn lasting_turn(const Advantages& advantages);

}  // namespace headsplit::coordinator
