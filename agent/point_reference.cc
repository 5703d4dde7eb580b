#include "agent/point_reference.h"

#include <algorithm>

namespace headsplit::agent {
namespace {

/// Cached tokens of the requests whose rows are compared with the fp64 reference: making them on a
/// CPU costs about a microsecond each, so large problems are sampled.
constexpr double kReferenceTokenBudget = 1 << 14;
constexpr double kReferenceRequestsMin = 2;
constexpr double kReferenceRowsOfRequest = 4;
constexpr double kReferenceRowsMax = 64;

}  // namespace

Result<kernels::Reference> make_point_reference(Device& device, const kernels::Problem& problem) {
  const double context = std::max<double>(1, static_cast<double>(problem.shape.context));
  const double requests = std::max(kReferenceRequestsMin, kReferenceTokenBudget / context);
  const double rows_max = std::min(kReferenceRowsMax, requests * kReferenceRowsOfRequest);
  const auto make_rows = [&](const kernels::Problem& wanted, std::span<const std::int64_t> rows) {
    return device.reference_rows(wanted, rows);
  };
  return kernels::make_reference(problem, static_cast<std::int64_t>(rows_max), make_rows);
}

}  // namespace headsplit::agent
