#include "agent/problem_memory.h"

#include <utility>

namespace headsplit::agent {
namespace {

/// About a quarter of a megabyte each.
constexpr std::size_t kReferencesMax = 1000;
constexpr std::size_t kCountsMax = 20'000;

std::string problem_key(const Lease& lease) {
  return str(json_text(lease.problem), " ", lease.seed);
}

std::string counts_key(const Lease& lease) {
  return str(lease.point.kernel, " ", lease.point.fixed_splits, " ", lease.measure.counters_detail,
             " ", problem_key(lease));
}

template <class Value>
const Value* find(const std::map<std::string, Value>& map, const std::string& key) {
  const auto found = map.find(key);
  return found == map.end() ? nullptr : &found->second;
}

}  // namespace

const kernels::Reference* ProblemMemory::reference(const Lease& lease) const {
  return find(references_, problem_key(lease));
}

const kernels::Reference& ProblemMemory::remember(const Lease& lease,
                                                  kernels::Reference reference) {
  if (references_.size() >= kReferencesMax) references_.clear();
  return references_.insert_or_assign(problem_key(lease), std::move(reference)).first->second;
}

const RememberedCounts* ProblemMemory::counts(const Lease& lease) const {
  return find(counts_, counts_key(lease));
}

void ProblemMemory::remember(const Lease& lease, RememberedCounts counts) {
  if (counts_.size() >= kCountsMax) counts_.clear();
  counts_.insert_or_assign(counts_key(lease), std::move(counts));
}

}  // namespace headsplit::agent
