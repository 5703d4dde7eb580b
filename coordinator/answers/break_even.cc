#include "coordinator/answers/break_even.h"

#include <cmath>
#include <map>

namespace headsplit::coordinator {
namespace {

/// Times of both layouts by batch.
using Series = std::map<int, std::pair<double, double>>;

/// The first batch from which `to` stays faster.
void find_turn(const Series& series, BreakEven& found) {
  const auto advantage = [](const auto& entry) {
    return std::log(entry.second.second / entry.second.first);  // below 0: `to` is faster
  };
  found.batch_low = series.begin()->first;
  found.batch_high = series.rbegin()->first;
  auto last_slower = series.end();
  for (auto here = series.begin(); here != series.end(); ++here) {
    if (advantage(*here) >= 0) last_slower = here;
  }
  if (last_slower == series.end()) {
    found.turns = Turns::always;
    return;
  }
  const auto next = std::next(last_slower);
  if (next == series.end()) return;
  const double above = advantage(*last_slower);
  const double part = above / (above - advantage(*next));
  found.turns = Turns::at;
  found.batch = last_slower->first * std::pow(1.0 * next->first / last_slower->first, part);
}

bool is_head_parallel(const ErosionLine& line) {
  return line.tp > 1 && line.dp == 1 && line.cp == 1;
}

std::string series_key(const ErosionCell& cell, const ErosionLine& from, const ErosionLine& to) {
  return str(cell.sweep, '\n', cell.model, '\n', cell.kernel, '\n', enum_name(cell.kv_dtype), '\n',
             enum_name(cell.lengths), enum_name(cell.l2), enum_name(cell.ranks), cell.device, '\n',
             cell.query_tokens, ' ', cell.context, ' ', from.layout, ' ', to.layout);
}

BreakEven identity_of(const ErosionCell& cell, const ErosionLine& from, const ErosionLine& to) {
  return {.sweep = cell.sweep,
          .model = cell.model,
          .kernel = cell.kernel,
          .kv_dtype = cell.kv_dtype,
          .ranks = cell.ranks,
          .query_tokens = cell.query_tokens,
          .context = cell.context,
          .from = from.layout,
          .to = to.layout};
}

}  // namespace

std::vector<BreakEven> break_evens_of(std::span<const ErosionCell> cells) {
  std::vector<BreakEven> all;
  std::vector<Series> series;
  std::map<std::string, std::size_t> index_of;
  for (const ErosionCell& cell : cells) {
    for (const ErosionLine& from : cell.lines) {
      if (!is_head_parallel(from) || !from.time_us) continue;
      for (const ErosionLine& to : cell.lines) {
        if (to.rank_count != from.rank_count || is_head_parallel(to) || !to.time_us) continue;
        const auto [entry, added] = index_of.emplace(series_key(cell, from, to), all.size());
        if (added) {
          all.push_back(identity_of(cell, from, to));
          series.emplace_back();
        }
        series[entry->second][cell.batch] = {*from.time_us, *to.time_us};
      }
    }
  }
  for (std::size_t i = 0; i < all.size(); ++i) find_turn(series[i], all[i]);
  std::erase_if(all, [](const BreakEven& one) { return one.batch_low == one.batch_high; });
  return all;
}

}  // namespace headsplit::coordinator
