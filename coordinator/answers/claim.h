#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "coordinator/answers/reference_table.h"
#include "coordinator/answers/selection.h"

namespace headsplit::coordinator {

/// How the figures of a claim are made from rows; each figure is one case.
///   value:    a figure of one row (repeats by their median)
///   ratio:    a figure at `to` over the same at `from`, all else equal: same GPU, build and point
///             but for the axis `vary`
///   spread:   largest over smallest of a figure among rows that differ in the axes `across` only
///   knee:     heads x tokens where time turns from flat to linear, by the two ends of a series
///   that
///             differs in tp and query_tokens only
///   crossing: where along the axis `along` `to` begins to be faster than `from` (values of `vary`)
///   table:    time over the published time of the same problem
enum class JudgeKind { value, ratio, spread, knee, crossing, table };
BOOST_DESCRIBE_ENUM(JudgeKind, value, ratio, spread, knee, crossing, table)

/// What a ratio of axis values does to a figure by the claim; the case is the ratio over that.
enum class Expected { equal, proportional, inverse };
BOOST_DESCRIBE_ENUM(Expected, equal, proportional, inverse)

struct Judge {
  JudgeKind kind = JudgeKind::value;
  Selection where;
  const Figure* of = nullptr;
  std::string vary;
  std::string from;
  std::vector<std::string> to;
  Expected expected = Expected::equal;
  std::vector<std::string> across;
  std::string along;
  ReferenceTable table;
  Range accept;
  double share = 1;       ///< of the cases that must lie in `accept`
  int least_cases = 1;    ///< fewer are not judged
  int least_entries = 2;  ///< spread: rows of a group
};

/// One sentence of the literature that rows can confirm or refute.
struct Claim {
  std::string id;
  std::string source;
  std::string statement;
  std::string rows_from;  ///< what to run to have rows that judge it
  Judge judge;
};

/// Most query heads x tokens of the flat end of a knee, least of the linear end.
constexpr double kKneeFlatMost = 32;
constexpr double kKneeLinearLeast = 256;

/// The claims of a YAML text.  folder: where relative paths of tables begin.
/// Fails: config, `file:line:column: field: what; legal values`.
Result<std::vector<Claim>> claims_from_yaml(const std::string& text, const std::string& filename,
                                            const std::filesystem::path& folder);

}  // namespace headsplit::coordinator
