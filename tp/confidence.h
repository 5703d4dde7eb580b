#pragma once

#include <string>
#include <vector>

#include "tp/candidate.h"

namespace headsplit::tp {

/// How sure it is that the first of a ranking is the fastest.
enum class Confidence { low, medium, high };
BOOST_DESCRIBE_ENUM(Confidence, low, medium, high)

struct Sureness {
  Confidence confidence = Confidence::low;
  std::string reason;
  /// What the second of the ranking takes longer, relative to the first; absent without a second.
  std::optional<double> margin;
  std::string runner_up;  ///< its layout and kernel

  bool operator==(const Sureness&) const = default;
};
BOOST_DESCRIBE_STRUCT(Sureness, (), (confidence, reason, margin, runner_up))

/// What each part of a step is expected to be off by, relative to the part.  Projections are by the
/// roofline; published collectives as configs/collectives.yaml states; measured ones by what runs
/// of the same machine differ by.
constexpr double kProjectionError = 0.25;
constexpr double kPublishedCollectiveError = 0.12;
constexpr double kMeasuredCollectiveError = 0.05;

/// Expected error of a step, relative to it: the errors of its parts as if they were independent.
double step_error(const Candidate& candidate);

/// high: the lead of the first is at least twice the expected error of the difference; medium: at
/// least once.  ranking: those that fit by step time, then others.
Sureness sureness_of(const std::vector<Candidate>& ranking);

}  // namespace headsplit::tp
