#include "coordinator/web/row_feed.h"

#include <algorithm>

namespace headsplit::coordinator {

void RowFeed::add(const std::string& sweep, Row row) {
  row.samples_us.clear();
  row.counters.clear();
  items_.push_back({++latest_, sweep, std::move(row)});
  if (items_.size() > kKept) items_.pop_front();
}

std::optional<std::vector<const RowFeed::Item*>> RowFeed::after(std::uint64_t number,
                                                                std::size_t most) const {
  std::vector<const Item*> found;
  if (number >= latest_) return found;
  const std::uint64_t wanted = latest_ - number;
  if (wanted > items_.size()) return std::nullopt;
  const std::size_t begin = items_.size() - wanted;
  const std::size_t end = std::min(items_.size(), begin + most);
  for (std::size_t i = begin; i < end; ++i) found.push_back(&items_[i]);
  return found;
}

}  // namespace headsplit::coordinator
