#include "coordinator/answers/machine.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/stats.h"

namespace headsplit::coordinator {
namespace {

using Values = std::vector<double>;

template <class Member>
Values values_of(const std::vector<const Row*>& rows, Member member) {
  Values values;
  for (const Row* row : rows) {
    if (row->*member) values.push_back(*(row->*member));
  }
  return values;
}

std::optional<double> quantile_if_any(const Values& values, double fraction) {
  if (values.empty()) return std::nullopt;
  return quantile(values, fraction);
}

void fill_builds_and_times(const std::vector<const Row*>& rows, MachineFacts& facts) {
  std::set<std::string> builds;
  std::map<std::string, int> reasons;
  facts.first_unix_s = rows.front()->started_unix_s;
  for (const Row* row : rows) {
    builds.insert(row->build);
    facts.first_unix_s = std::min(facts.first_unix_s, row->started_unix_s);
    facts.last_unix_s = std::max(facts.last_unix_s, row->started_unix_s);
    if (row->throttled != true) continue;
    ++facts.rows_throttled;
    ++reasons[row->throttle_reason];
  }
  for (const auto& [reason, count] : reasons) facts.throttle_reasons.push_back({reason, count});
  facts.builds = {builds.begin(), builds.end()};
}

MachineFacts facts_of(const std::vector<const Row*>& rows) {
  const Row& first = *rows.front();
  MachineFacts facts{.device = first.device,
                     .gpu_uuid = first.gpu_uuid,
                     .node = first.node,
                     .backend = first.backend,
                     .driver = first.driver,
                     .cuda = first.cuda,
                     .rows_ok = static_cast<int>(rows.size())};
  fill_builds_and_times(rows, facts);
  const Values clocks = values_of(rows, &Row::sm_clock_mhz);
  const Values power = values_of(rows, &Row::power_w);
  facts.sm_clock_low_mhz = quantile_if_any(clocks, 0);
  facts.sm_clock_median_mhz = quantile_if_any(clocks, 0.5);
  facts.sm_clock_high_mhz = quantile_if_any(clocks, 1);
  facts.memory_clock_median_mhz = quantile_if_any(values_of(rows, &Row::memory_clock_mhz), 0.5);
  facts.power_median_w = quantile_if_any(power, 0.5);
  facts.power_high_w = quantile_if_any(power, 1);
  facts.temperature_high_c = quantile_if_any(values_of(rows, &Row::temperature_c), 1);
  facts.read_ceiling_gbps = quantile_if_any(values_of(rows, &Row::read_ceiling_gbps), 0.5);
  facts.matmul_ceiling_tflops = quantile_if_any(values_of(rows, &Row::matmul_ceiling_tflops), 0.5);
  return facts;
}

}  // namespace

std::vector<MachineFacts> machines_of(std::span<const Row* const> rows) {
  std::map<std::string, std::vector<const Row*>> by_machine;
  for (const Row* row : rows) {
    if (row->status != Status::ok) continue;
    by_machine[row->device + '\n' + row->gpu_uuid + '\n' + row->node + '\n' + row->driver + '\n' +
               row->cuda]
        .push_back(row);
  }
  std::vector<MachineFacts> machines;
  for (const auto& [key, own] : by_machine) machines.push_back(facts_of(own));
  return machines;
}

}  // namespace headsplit::coordinator
