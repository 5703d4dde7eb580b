#pragma once

#include <map>
#include <optional>
#include <string>

#include "agent/device.h"
#include "core/lease.h"
#include "kernels/verify.h"

namespace headsplit::agent {

/// Counters read at an earlier point.
struct RememberedCounts {
  Counts counts;
  std::string point_id;  ///< where
};

/// What one point of a worker leaves for later ones with the same rank problem and seed, such as
/// its repeats and layouts that give a rank the same share: the reference, and what was counted.
/// Neither depends on when it was made.  Forgets everything when it grows too large.
class ProblemMemory {
 public:
  /// Null when there is none.  Valid until the next call that remembers.
  const kernels::Reference* reference(const Lease& lease) const;
  const kernels::Reference& remember(const Lease& lease, kernels::Reference reference);

  /// Of the same kernel, splits and set of counters.
  const RememberedCounts* counts(const Lease& lease) const;
  void remember(const Lease& lease, RememberedCounts counts);

 private:
  std::map<std::string, kernels::Reference> references_;
  std::map<std::string, RememberedCounts> counts_;
};

}  // namespace headsplit::agent
