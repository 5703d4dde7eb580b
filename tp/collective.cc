#include "tp/collective.h"

#include <algorithm>
#include <cmath>

#include "core/check.h"
#include "core/stats.h"
#include "tp/shard.h"
#include "tp/work.h"

namespace headsplit::tp {
namespace {

/// Widths that cross the wire for one head: the query, and the partial output.
struct WireWidths {
  double query = 0;
  double output = 0;
};

WireWidths wire_widths(const Model& model, const std::string& kernel) {
  if (model.is_mla() && kernel != "mla_expanded") {
    return {1.0 * model.d_latent + model.d_rope, 1.0 * model.d_latent};
  }
  return {1.0 * model.d_nope + model.d_rope, 1.0 * model.d_v};
}

void add_merge(std::vector<Collective>& list, Merge merge, int cp, double rows, double width) {
  constexpr double kLseBytes = 4;
  if (merge == Merge::all_to_all) {
    list.push_back({CollectiveKind::all_to_all, cp, rows * (kBf16Bytes * width + kLseBytes),
                    "partial outputs and their log-sum-exp"});
    return;
  }
  list.push_back({CollectiveKind::all_gather, cp, rows * kLseBytes * cp, "log-sum-exp"});
  list.push_back(
      {CollectiveKind::reduce_scatter, cp, rows * kBf16Bytes * width, "partial outputs, weighted"});
}

double time_between(const CollectiveTimes& times, double bytes) {
  const auto& known = times.time_us_by_bytes;
  const auto above = known.lower_bound(bytes);
  if (above == known.begin()) return above->second;
  const auto& [low_bytes, low_us] = *std::prev(above);
  if (above == known.end()) return low_us * bytes / low_bytes;
  const double part = std::log(bytes / low_bytes) / std::log(above->first / low_bytes);
  return low_us * std::pow(above->second / low_us, part);
}

}  // namespace

std::vector<Collective> layout_collectives(const Model& model, const Point& point,
                                           QueryProjection query, Merge merge) {
  const Layout& layout = point.layout;
  const double tokens = static_cast<double>(share(point.batch, layout.dp, 0)) * point.query_tokens;
  const double rows = tokens * model.heads / layout.tp;
  const WireWidths widths = wire_widths(model, point.kernel);
  std::vector<Collective> list;
  if (layout.cp > 1) {
    if (query == QueryProjection::gathered) {
      list.push_back(
          {CollectiveKind::all_gather, layout.cp, rows * widths.query * kBf16Bytes, "queries"});
    }
    add_merge(list, merge, layout.cp, rows, widths.output);
  }
  if (layout.tp * layout.cp > 1) {
    list.push_back({CollectiveKind::all_reduce, layout.tp * layout.cp,
                    tokens * model.hidden * kBf16Bytes, "sum of the output projection"});
  }
  return list;
}

const CollectiveTimes* CollectiveModel::times_of(const Collective& collective) const {
  const auto found = std::find_if(measured.begin(), measured.end(), [&](const auto& times) {
    return times.kind == collective.kind && times.ranks == collective.ranks;
  });
  return found == measured.end() ? nullptr : &*found;
}

double CollectiveModel::time_us(const Collective& collective, double device_link_gbps) const {
  if (const auto* times = times_of(collective)) return time_between(*times, collective.bytes);
  constexpr double kBytesPerUs = 1e3;  // of one GB/s
  const CollectiveRate* chosen = nullptr;
  for (const auto& rate : rates) {
    if (rate.kind != collective.kind) continue;
    const bool fits = rate.ranks >= collective.ranks;
    if (chosen == nullptr || (chosen->ranks < collective.ranks && rate.ranks > chosen->ranks) ||
        (fits && rate.ranks < chosen->ranks)) {
      chosen = &rate;
    }
  }
  CHECK(chosen != nullptr);  // the reader refuses a model without all kinds
  const double steps = std::log2(collective.ranks) / std::log2(chosen->ranks);
  const double latency_us = chosen->latency_us * (collective.ranks > chosen->ranks ? steps : 1);
  const double gbps = chosen->gbps * device_link_gbps / link_gbps;
  return latency_us + collective.bytes / (gbps * kBytesPerUs);
}

CollectiveModel with_rows(CollectiveModel model, const std::vector<Row>& rows) {
  using Key = std::pair<CollectiveKind, int>;
  std::map<Key, std::map<double, std::vector<double>>> repeats;
  for (const Row& row : rows) {
    const auto kind = enum_from_name<CollectiveKind>(row.kernel);
    if (!kind || !row.time_us || row.message_bytes <= 0) continue;
    const int ranks = row.tp * row.dp * row.cp;
    repeats[{kind.value(), ranks}][static_cast<double>(row.message_bytes)].push_back(*row.time_us);
  }
  std::string list;
  for (const auto& [key, sizes] : repeats) {
    CollectiveTimes times{.kind = key.first, .ranks = key.second};
    for (const auto& [bytes, time_us] : sizes)
      times.time_us_by_bytes[bytes] = quantile(time_us, 0.5);
    list += str(list.empty() ? "" : ", ", enum_name(key.first), " of ", key.second);
    model.measured.push_back(std::move(times));
  }
  if (!list.empty()) model.source = "measured: " + list + "; others " + model.source;
  return model;
}

}  // namespace headsplit::tp
