#include "kernels/verify.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "kernels/mla_dense/reference.h"
#include "kernels/random_value.h"

namespace headsplit::kernels {
namespace {

/// Where a row is furthest from the reference.
struct RowError {
  double worst = 0;  ///< in units of the tolerance
  std::string where = "lse";
  double got = 0;
  double wanted = 0;

  void update(const std::string& name, double value, double reference, double allowed) {
    if (value == reference) return;  // equal infinities, too
    double error = std::abs(value - reference) / allowed;
    if (!std::isfinite(error)) error = std::numeric_limits<double>::infinity();
    if (error > worst) *this = RowError{error, name, value, reference};
  }
};

double rms(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value * value;
  return values.empty() ? 0 : std::sqrt(sum / static_cast<double>(values.size()));
}

RowError compare(const OutputRow& row, const ReferenceRow& reference, const Tolerance& allowed) {
  RowError error;
  error.update("lse", row.lse, reference.lse, allowed.lse_absolute);
  const double row_share = allowed.of_row * rms(reference.values);
  for (std::size_t d = 0; d < reference.values.size(); ++d) {
    const double wanted = reference.values[d];
    error.update(str("value ", d), row.values[d], wanted,
                 allowed.of_value * std::abs(wanted) + row_share);
  }
  return error;
}

/// The rows to check, ascending: the first, the last, and one from each equal part between.
std::vector<std::int64_t> sampled_rows(const Problem& problem, std::int64_t rows_max) {
  const std::int64_t rows = problem.rows();
  std::vector<std::int64_t> sample;
  if (rows_max <= 0 || rows <= rows_max) {
    sample.resize(static_cast<std::size_t>(rows));
    std::iota(sample.begin(), sample.end(), std::int64_t{0});
    return sample;
  }
  for (std::int64_t i = 0; i < rows_max; ++i) {
    const std::int64_t low = rows * i / rows_max;
    const std::int64_t width = rows * (i + 1) / rows_max - low;
    const std::uint64_t bits =
        random_bits(problem.seed, Tensor::query, ~static_cast<std::uint64_t>(i));
    sample.push_back(low + static_cast<std::int64_t>(bits % static_cast<std::uint64_t>(width)));
  }
  sample.front() = 0;
  if (rows_max > 1) sample.back() = rows - 1;
  return sample;
}

Error mismatch(const Verification& result, const RowError& error) {
  return fail(ErrorKind::mismatch, "row ", result.worst_row, ", ", error.where, ": got ", error.got,
              ", the reference has ", error.wanted, " (", error.worst, " times the tolerance; ",
              result.rows_checked, " rows checked)");
}

}  // namespace

Tolerance tolerance(KvDtype) {
  // Both caches hold values that are exact in bf16.  What is left is the rounding of the softmax
  // weights to bf16 for the second product (2^-9 each, and random): five times that is allowed.
  // The LSE comes from fp32 sums alone, so it is held tightly: it is what shows a mask that is off
  // by one token.
  return Tolerance{.of_value = 1e-2, .of_row = 1e-2, .lse_absolute = 1e-4};
}

Result<Verification> verify(BoundKernel& kernel, const Problem& problem, std::int64_t rows_max) {
  const auto rows = sampled_rows(problem, rows_max);
  const auto outputs = TRY(kernel.output_rows(rows));
  const Tolerance allowed = tolerance(problem.shape.kv_dtype);
  const auto width = static_cast<std::size_t>(problem.shape.d_latent);
  if (outputs.size() != rows.size()) {
    return fail(ErrorKind::mismatch, "asked for ", rows.size(), " output rows, got ",
                outputs.size());
  }
  Verification result{.rows_checked = static_cast<std::int64_t>(rows.size())};
  RowError worst;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (outputs[i].values.size() != width) {
      return fail(ErrorKind::mismatch, "row ", rows[i], " has ", outputs[i].values.size(),
                  " values, not ", width);
    }
    const RowError error = compare(outputs[i], mla_dense_reference(problem, rows[i]), allowed);
    if (result.worst_row >= 0 && error.worst <= worst.worst) continue;
    worst = error;
    result.worst = error.worst;
    result.worst_row = rows[i];
  }
  if (worst.worst > 1) return mismatch(result, worst);
  return result;
}

}  // namespace headsplit::kernels
