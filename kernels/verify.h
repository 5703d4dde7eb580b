#pragma once

#include "core/result.h"
#include "kernels/kernel.h"
#include "kernels/problem.h"

namespace headsplit::kernels {

/// The tolerance of each storage type, written once.  Averaging over n tokens shrinks an output
/// row as 1/sqrt(n), so a fixed absolute tolerance would be blind at long contexts; it is taken
/// relative to the row instead: |out - reference| <= of_value x |reference| + of_row x
/// rms(reference row), and |lse - reference| <= lse_absolute.  A row that attends to nothing must
/// be exactly 0 and its LSE exactly -infinity.
struct Tolerance {
  double of_value = 0;
  double of_row = 0;
  double lse_absolute = 0;
};
Tolerance tolerance(KvDtype dtype);

/// Largest error of the checked rows in units of the tolerance: at most 1 passes.  NaN and
/// infinities where the reference has none count as infinite.
struct Verification {
  double worst = 0;
  std::int64_t rows_checked = 0;
  std::int64_t worst_row = -1;
};

/// Compare output rows of the last launch with the fp64 reference.  At most `rows_max` rows are
/// checked: a few of each of some requests, the very first and last included, the others spread by
/// the seed; 0 checks all.
/// Fails: mismatch when the worst is above 1 (says which row, and both values).
Result<Verification> verify(BoundKernel& kernel, const Problem& problem, std::int64_t rows_max);

}  // namespace headsplit::kernels
