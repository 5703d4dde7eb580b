#include "coordinator/answers/limiter_count.h"

#include <unordered_map>

namespace headsplit::coordinator {
namespace {

struct Place {
  Limiter limiter;
  int LimiterCount::*count;
};

constexpr Place kPlaces[] = {{Limiter::memory, &LimiterCount::memory},
                             {Limiter::tensor, &LimiterCount::tensor},
                             {Limiter::dequantisation, &LimiterCount::dequantisation},
                             {Limiter::overhead, &LimiterCount::overhead},
                             {Limiter::unknown, &LimiterCount::unknown}};

LimiterCount identity_of(const ErosionCell& cell, const ErosionLine& line) {
  return {.model = cell.model,
          .kernel = cell.kernel,
          .kv_dtype = cell.kv_dtype,
          .query_tokens = cell.query_tokens,
          .layout = line.layout,
          .local_heads = line.local_heads};
}

void find_most(LimiterCount& counts) {
  int most = 0;
  for (const Place& place : kPlaces) {
    if (counts.*place.count <= most) continue;
    most = counts.*place.count;
    counts.mostly = place.limiter;
  }
}

}  // namespace

std::vector<LimiterCount> limiters_of(std::span<const ErosionCell> cells) {
  std::vector<LimiterCount> all;
  std::unordered_map<std::string, std::size_t> index_of;
  for (const ErosionCell& cell : cells) {
    for (const ErosionLine& line : cell.lines) {
      if (line.status != Status::ok) continue;
      const LimiterCount own = identity_of(cell, line);
      const auto [entry, added] = index_of.emplace(json_text(own), all.size());
      if (added) all.push_back(own);
      for (const Place& place : kPlaces) {
        if (place.limiter == line.limiter) ++(all[entry->second].*place.count);
      }
    }
  }
  for (LimiterCount& counts : all) find_most(counts);
  return all;
}

}  // namespace headsplit::coordinator
