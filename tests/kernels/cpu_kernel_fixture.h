#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "hwy/targets.h"
#include "kernels/verify.h"

namespace headsplit::kernels {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSlowBuild = true;
#else
constexpr bool kSlowBuild = false;
#endif

inline std::unique_ptr<BoundKernel> bound(const std::string& name, const Problem& problem,
                                          BindOptions options = {}) {
  const KernelEntry* entry = find_kernel(name, Backend::cpu).value();
  return entry->bind(problem, options).value();
}

/// Poisons, launches and verifies; gives the error's text, empty when all is well.
inline std::string run(const std::string& name, const Problem& problem, BindOptions options = {},
                       std::int64_t rows_max = 8) {
  const auto kernel = bound(name, problem, options);
  kernel->poison().value();
  kernel->launch(Part::all).value();
  const auto verified = verify(*kernel, problem, rows_max);
  return verified ? "" : verified.error().message;
}

/// Page-table entries that no request uses lead to a page of NaN or far outside the cache.
inline void poison_page_table(Problem& problem) {
  std::int32_t page_of_nobody = 0;
  std::vector<bool> used(std::size_t(problem.page_count));
  for (const auto page : problem.page_table) {
    if (page != kUnusedPage) used[std::size_t(page)] = true;
  }
  while (used[std::size_t(page_of_nobody)]) ++page_of_nobody;
  bool outside = false;
  for (auto& page : problem.page_table) {
    if (page != kUnusedPage) continue;
    page = outside ? std::numeric_limits<std::int32_t>::max() : page_of_nobody;
    outside = !outside;
  }
}

/// Lets kernels see only one instruction set while it lives.
class OnlyTarget {
 public:
  explicit OnlyTarget(std::int64_t target) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(target);
  }
  ~OnlyTarget() {
    hwy::SetSupportedTargetsForTest(0);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
};

}  // namespace headsplit::kernels
