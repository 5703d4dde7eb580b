#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/row.h"

namespace headsplit::coordinator {

/// What is not as a reader would expect: rows that are not ok, ok ones that were throttled, and ok
/// ones whose counters are missing though they were asked for.
enum class TroubleKind { failed, skipped, cancelled, throttled, uncounted };
BOOST_DESCRIBE_ENUM(TroubleKind, failed, skipped, cancelled, throttled, uncounted)

/// Rows with one trouble for one reason; reasons that differ in their numbers only are one.
struct Trouble {
  TroubleKind kind = TroubleKind::failed;
  std::string reason;  ///< of the first row
  int rows = 0;
  std::vector<std::string> examples;  ///< at most kTroubleExamples: points with the ids of rows

  bool operator==(const Trouble&) const = default;
};
BOOST_DESCRIBE_STRUCT(Trouble, (), (kind, reason, rows, examples))

constexpr std::size_t kTroubleExamples = 3;

/// Failures first, then by how many rows have it.
std::vector<Trouble> troubles_of(std::span<const Row* const> rows);

}  // namespace headsplit::coordinator
