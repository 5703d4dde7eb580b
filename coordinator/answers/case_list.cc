#include "coordinator/answers/case_list.h"

#include <map>

namespace headsplit::coordinator {
namespace {

std::vector<Case> value_cases(const Judge& judge, std::span<const Repeats> measured) {
  std::vector<Case> cases;
  for (const Repeats& one : measured) {
    const Repeats* const rows[] = {&one};
    if (const auto value = one.figure(*judge.of)) cases.push_back({*value, ids_of(rows)});
  }
  return cases;
}

bool is_of(const ReferenceTime& time, const Row& row) {
  return time.local_heads == row.local_heads && time.batch == row.rank_batch &&
         time.query_tokens == row.query_tokens && time.context == row.rank_context &&
         time.kv_dtype == row.kv_dtype && time.top_k == row.top_k;
}

std::vector<Case> table_cases(const Judge& judge, std::span<const Repeats> measured) {
  std::vector<Case> cases;
  for (const Repeats& one : measured) {
    const auto time_us = one.figure(*judge.of);
    const Repeats* const rows[] = {&one};
    for (const ReferenceTime& published : judge.table.times) {
      if (!time_us || !is_of(published, one.first())) continue;
      cases.push_back({*time_us / published.time_us, ids_of(rows)});
    }
  }
  return cases;
}

}  // namespace

std::vector<std::string> ids_of(std::span<const Repeats* const> measured) {
  std::vector<std::string> ids;
  for (const Repeats* one : measured) {
    for (const Row* row : one->rows) ids.push_back(row->point_id);
  }
  return ids;
}

std::vector<std::vector<const Repeats*>> groups_without(std::span<const Repeats> measured,
                                                        std::span<const std::string> axes) {
  std::vector<std::vector<const Repeats*>> groups;
  std::map<std::string, std::size_t> index_of;
  for (const Repeats& one : measured) {
    const auto [found, added] = index_of.emplace(key_without(one.first(), axes), groups.size());
    if (added) groups.emplace_back();
    groups[found->second].push_back(&one);
  }
  return groups;
}

std::vector<Case> cases_of(const Judge& judge, std::span<const Repeats> measured) {
  switch (judge.kind) {
    case JudgeKind::value: return value_cases(judge, measured);
    case JudgeKind::ratio: return ratio_cases(judge, measured);
    case JudgeKind::spread: return spread_cases(judge, measured);
    case JudgeKind::knee: return knee_cases(judge, measured);
    case JudgeKind::crossing: return crossing_cases(judge, measured);
    case JudgeKind::table: return table_cases(judge, measured);
  }
  return {};
}

}  // namespace headsplit::coordinator
