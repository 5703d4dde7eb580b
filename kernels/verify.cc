#include "kernels/verify.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "kernels/random_value.h"

namespace headsplit::kernels {
namespace {

/// Where a row is furthest from the reference.
struct RowError {
  double worst = 0;  ///< in units of the tolerance
  std::string where;
  double got = 0;
  double wanted = 0;

  /// Whether this is further from it than all before.
  bool update(double value, double reference, double allowed) {
    if (value == reference) return false;  // equal infinities, too
    double error = std::abs(value - reference) / allowed;
    if (!std::isfinite(error)) error = std::numeric_limits<double>::infinity();
    if (error <= worst) return false;
    *this = RowError{error, {}, value, reference};
    return true;
  }
};

/// Of those that are finite: a list of scores ends with -infinity where there is no token.
double rms(const std::vector<double>& values) {
  double sum = 0;
  int count = 0;
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    sum += value * value;
    ++count;
  }
  return count == 0 ? 0 : std::sqrt(sum / count);
}

RowError compare(const OutputRow& row, const ReferenceRow& reference, const Tolerance& allowed) {
  RowError error;
  if (error.update(row.lse, reference.lse, allowed.lse_absolute)) error.where = "lse";
  const double row_rms = rms(reference.values);
  std::vector<double> differences;
  for (std::size_t d = 0; d < reference.values.size(); ++d) {
    const double wanted = reference.values[d];
    const double share = allowed.of_value * std::abs(wanted) + allowed.of_row * row_rms;
    if (error.update(row.values[d], wanted, share)) error.where = str("value ", d);
    differences.push_back(row.values[d] - wanted);
  }
  if (error.update(rms(differences), 0, allowed.rms_of_row * row_rms)) {
    error.where = "differences of its values, rms";
  }
  return error;
}

/// Rows checked of each sampled request: its keys are made once and serve them all.
constexpr std::int64_t kRowsOfRequest = 4;

/// One number from each of `count` equal parts of 0..total-1, ascending; the first is 0, the last
/// total - 1.  stream: keeps draws for different purposes apart.
std::vector<std::int64_t> spread(std::int64_t total, std::int64_t count, std::uint64_t seed,
                                 std::uint64_t stream) {
  std::vector<std::int64_t> numbers;
  for (std::int64_t i = 0; i < std::min(count, total); ++i) {
    const std::int64_t low = total * i / std::min(count, total);
    const std::int64_t width = total * (i + 1) / std::min(count, total) - low;
    const std::uint64_t key = ~((stream << 32) + static_cast<std::uint64_t>(i));
    const std::uint64_t bits = random_bits(seed, Tensor::query, key);
    numbers.push_back(low + static_cast<std::int64_t>(bits % static_cast<std::uint64_t>(width)));
  }
  numbers.front() = 0;
  if (numbers.size() > 1) numbers.back() = total - 1;
  return numbers;
}

/// The rows to check, ascending: some of each of some requests, the very first and last included.
std::vector<std::int64_t> sampled_rows(const Problem& problem, std::int64_t rows_max) {
  const std::int64_t rows = problem.rows();
  if (rows == 0) return {};
  if (rows_max <= 0 || rows <= rows_max) return spread(rows, rows, problem.seed, 0);
  // Requests of kv_expand have no equal shares of the rows, and its rows share no keys.
  if (problem.shape.family == Family::kv_expand) return spread(rows, rows_max, problem.seed, 0);
  const std::int64_t of_request = rows / problem.shape.batch;
  const std::int64_t wanted =
      std::max(std::min<std::int64_t>(rows_max, 2), rows_max / kRowsOfRequest);
  const std::int64_t requests = std::min<std::int64_t>(wanted, problem.shape.batch);
  const std::int64_t each = rows_max / requests;
  std::vector<std::int64_t> sample;
  for (const std::int64_t request : spread(problem.shape.batch, requests, problem.seed, 0)) {
    const auto stream = static_cast<std::uint64_t>(request) + 1;
    for (const std::int64_t row : spread(of_request, each, problem.seed, stream)) {
      sample.push_back(request * of_request + row);
    }
  }
  return sample;
}

/// Whether the kernel gave as many rows, and as wide ones, as it was asked for.
Result<void> check_shapes(const Problem& problem, std::span<const std::int64_t> rows,
                          std::span<const OutputRow> outputs) {
  const auto width = static_cast<std::size_t>(problem.shape.output_width());
  if (outputs.size() != rows.size()) {
    return fail(ErrorKind::mismatch, "asked for ", rows.size(), " output rows, got ",
                outputs.size());
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (outputs[i].values.size() == width) continue;
    return fail(ErrorKind::mismatch, "row ", rows[i], " has ", outputs[i].values.size(),
                " values, not ", width);
  }
  return {};
}

Error mismatch(const Verification& result, const RowError& error) {
  return fail(ErrorKind::mismatch, "row ", result.worst_row, ", ", error.where, ": got ", error.got,
              ", the reference has ", error.wanted, " (", error.worst, " times the tolerance; ",
              result.rows_checked, " rows checked)");
}

}  // namespace

Tolerance tolerance(KvDtype, Arithmetic arithmetic) {
  // e4m3 moves a value by 2.7 % (rms; at most 2^-4).  A score, a sum over the dimensions of a
  // query, moves by 2.7 % of the scores' rms, which is 1.7 of natural logarithms for random
  // queries: 0.046; a weight moves by that and once more by 2.7 %, independently of the other
  // tokens': an output row by 5.3 % of its rms.  The LSE, where there are few tokens, moves by
  // 0.046: five times that is allowed.  Rows that two or three tokens make have moved by 13 % at
  // most (measured, thousands of rows), their largest of 512 values by 4.5 times that.  Sums that
  // are cut off move all values a little, so their rms has a bound of its own.
  if (arithmetic == Arithmetic::e4m3) {
    return {.of_value = 0, .of_row = 0.6, .rms_of_row = 0.2, .lse_absolute = 0.25};
  }
  // Caches hold values that are exact in bf16, or e4m3 values with one scale, which is applied to
  // sums.  What is left is the rounding of the softmax weights to bf16 for the second product (2^-9
  // each, and random): five times that is allowed. The LSE comes from fp32 sums alone, so it is
  // held tightly: it is what shows a mask that is off by one token.
  return Tolerance{.of_value = 1e-2, .of_row = 1e-2, .lse_absolute = 1e-4};
}

Tolerance merged_tolerance(KvDtype dtype, int parts) {
  Tolerance allowed = tolerance(dtype);
  if (parts == 1) return allowed;
  // A partial row of a part of the tokens is sqrt(parts) times as large as the merged row, and its
  // largest values, three to four times its rms, lose up to 2^-9 of themselves.  The parts' weights
  // add up to 1.
  allowed.of_row += std::sqrt(parts) * 0x1p-7;
  return allowed;
}

Result<Reference> make_reference(const Problem& problem, std::int64_t rows_max,
                                 const ReferenceRows& reference_rows) {
  Reference reference{.rows = sampled_rows(problem, rows_max)};
  reference.values = TRY(reference_rows(problem, reference.rows));
  return reference;
}

Result<Verification> verify(BoundKernel& kernel, const Problem& problem,
                            const Reference& reference) {
  return verify(kernel, problem, reference, tolerance(problem.shape.kv_dtype, kernel.arithmetic()));
}

Result<Verification> verify(BoundKernel& kernel, const Problem& problem, const Reference& reference,
                            const Tolerance& allowed) {
  const std::vector<std::int64_t>& rows = reference.rows;
  const auto outputs = TRY(kernel.output_rows(rows));
  TRY(check_shapes(problem, rows, outputs));
  Verification result{.rows_checked = static_cast<std::int64_t>(rows.size())};
  RowError worst;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const RowError error = compare(outputs[i], reference.values[i], allowed);
    if (result.worst_row >= 0 && error.worst <= worst.worst) continue;
    worst = error;
    result.worst = error.worst;
    result.worst_row = rows[i];
  }
  if (worst.worst > 1) return mismatch(result, worst);
  return result;
}

Result<Verification> verify(BoundKernel& kernel, const Problem& problem, std::int64_t rows_max) {
  const Reference reference = TRY(make_reference(problem, rows_max, reference_rows));
  return verify(kernel, problem, reference);
}

}  // namespace headsplit::kernels
