#include "coordinator/answers/break_even.h"

#include <cmath>
#include <map>

namespace headsplit::coordinator {
namespace {

/// The first batch from which `to` stays faster.
void find_turn(const Advantages& by_batch, BreakEven& found) {
  const Turn turn = lasting_turn(by_batch);
  found.turns = turn.turns;
  found.batch = turn.at;
  found.batch_low = static_cast<int>(by_batch.begin()->first);
  found.batch_high = static_cast<int>(by_batch.rbegin()->first);
}

bool is_head_parallel(const ErosionLine& line) {
  return line.tp > 1 && line.dp == 1 && line.cp == 1;
}

std::string series_key(const ErosionCell& cell, const ErosionLine& from, const ErosionLine& to) {
  return str(cell.sweep, '\n', cell.model, '\n', cell.kernel, '\n', enum_name(cell.kv_dtype), '\n',
             enum_name(cell.lengths), enum_name(cell.l2), enum_name(cell.ranks), cell.device, '\n',
             cell.query_tokens, ' ', cell.context, ' ', cell.fixed_splits, ' ', cell.top_k, ' ',
             from.layout, ' ', to.layout);
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
  std::vector<Advantages> series;
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
        series[entry->second][cell.batch] = std::log(*to.time_us / *from.time_us);
      }
    }
  }
  for (std::size_t i = 0; i < all.size(); ++i) find_turn(series[i], all[i]);
  std::erase_if(all, [](const BreakEven& one) { return one.batch_low == one.batch_high; });
  return all;
}

}  // namespace headsplit::coordinator
