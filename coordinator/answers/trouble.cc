#include "coordinator/answers/trouble.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

namespace headsplit::coordinator {
namespace {

struct Found {
  TroubleKind kind;
  const std::string* reason;
};

std::optional<Found> trouble_of(const Row& row) {
  switch (row.status) {
    case Status::failed: return Found{TroubleKind::failed, &row.reason};
    case Status::skipped: return Found{TroubleKind::skipped, &row.reason};
    case Status::cancelled: return Found{TroubleKind::cancelled, &row.reason};
    case Status::ok: break;
  }
  if (row.throttled == true) return Found{TroubleKind::throttled, &row.throttle_reason};
  if (!row.counters_reason.empty() && row.counters_reason != kCountersNotAskedFor) {
    return Found{TroubleKind::uncounted, &row.counters_reason};
  }
  return std::nullopt;
}

std::string without_digits(const std::string& text) {
  std::string kept;
  for (const char byte : text) {
    if (byte < '0' || byte > '9') kept += byte;
  }
  return kept;
}

std::string example_of(const Row& row) {
  return str(row.kernel, " ", row.layout, " B=", row.batch, " T=", row.query_tokens,
             " L=", row.context, " ", enum_name(row.kv_dtype), " (", row.point_id, ")");
}

}  // namespace

std::vector<Trouble> troubles_of(std::span<const Row* const> rows) {
  std::vector<Trouble> all;
  std::unordered_map<std::string, std::size_t> index_of;
  for (const Row* row : rows) {
    const auto found = trouble_of(*row);
    if (!found) continue;
    const std::string key = enum_name(found->kind) + (' ' + without_digits(*found->reason));
    const auto [entry, added] = index_of.emplace(key, all.size());
    if (added) all.push_back({.kind = found->kind, .reason = *found->reason});
    Trouble& trouble = all[entry->second];
    ++trouble.rows;
    if (trouble.examples.size() < kTroubleExamples) trouble.examples.push_back(example_of(*row));
  }
  std::stable_sort(all.begin(), all.end(), [](const Trouble& a, const Trouble& b) {
    return a.kind != b.kind ? a.kind < b.kind : a.rows > b.rows;
  });
  return all;
}

}  // namespace headsplit::coordinator
