#pragma once

#include <limits>
#include <span>
#include <vector>

#include "core/result.h"
#include "kernels/kernel.h"
#include "kernels/problem.h"
#include "kernels/reference.h"

namespace headsplit::kernels {

/// The tolerance of each storage type and arithmetic, written once.  Averaging over n tokens
/// shrinks an output row as 1/sqrt(n), so a fixed absolute tolerance would be blind at long
/// contexts; it is taken relative to the row instead: |out - reference| <= of_value x |reference| +
/// of_row x rms(reference row), rms(out row - reference row) <= rms_of_row x rms(reference row),
/// and |lse - reference| <= lse_absolute.  A row that attends to nothing must be exactly 0 and its
/// LSE exactly -infinity.
struct Tolerance {
  double of_value = 0;
  double of_row = 0;
  double rms_of_row = std::numeric_limits<double>::infinity();  ///< none besides those of values
  double lse_absolute = 0;
};
Tolerance tolerance(KvDtype dtype, Arithmetic arithmetic = Arithmetic::stored);
/// Of rows merged from `parts` partial rows that travelled as bf16: what each of them lost in its
/// last place is still there when they cancel.
Tolerance merged_tolerance(KvDtype dtype, int parts);

/// Largest error of the checked rows in units of the tolerance: at most 1 passes.  NaN and
/// infinities where the reference has none count as infinite.
struct Verification {
  double worst = 0;
  std::int64_t rows_checked = 0;
  std::int64_t worst_row = -1;
};

/// What outputs of a problem are compared with; made once, and good for every launch of every
/// kernel on that problem.
struct Reference {
  std::vector<std::int64_t> rows;  ///< output rows, ascending
  std::vector<ReferenceRow> values;
};

/// The reference of at most `rows_max` rows: a few of each of some requests, the very first and
/// last included, the others spread by the seed; 0 takes all.  Fails: as `reference_rows` does.
Result<Reference> make_reference(const Problem& problem, std::int64_t rows_max,
                                 const ReferenceRows& reference_rows);

/// Compares output rows of the last launch with the reference.
/// Fails: mismatch when the worst is above 1 (says which row, and both values).
Result<Verification> verify(BoundKernel& kernel, const Problem& problem,
                            const Reference& reference);
Result<Verification> verify(BoundKernel& kernel, const Problem& problem, const Reference& reference,
                            const Tolerance& allowed);

/// The same with a reference made on the CPU for this once.
Result<Verification> verify(BoundKernel& kernel, const Problem& problem, std::int64_t rows_max);

}  // namespace headsplit::kernels
