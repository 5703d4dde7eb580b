#include "coordinator/answers/reexpanded.h"

#include <map>
#include <set>
#include <string>

#include "coordinator/answers/row_key.h"
#include "core/stats.h"

namespace headsplit::coordinator {
namespace {

const std::string kExpansionAxes[] = {"kernel", "query_tokens"};
const std::string kKernelAxis[] = {"kernel"};

/// What expanding the cache of a problem took.
struct Expansion {
  std::vector<double> times_us;
  std::optional<double> flops;
  std::optional<double> hbm_bytes;
};

std::optional<double> sum(const std::optional<double>& a, const std::optional<double>& b) {
  if (!a || !b) return std::nullopt;
  return *a + *b;
}

Row added(const Row& kept, const Expansion& expansion) {
  Row row = kept;
  row.kernel = kAnewKernel;
  static_cast<RowTiming&>(row) = {};
  static_cast<RowWork&>(row) = {};
  static_cast<RowDerived&>(row) = {};
  static_cast<RowConfig&>(row) = {};
  row.config = str("sum of ", kExpandKernel, " and ", kKeptKernel);
  row.counters_reason = "a sum of two launches";
  row.time_us = *kept.time_us + quantile(expansion.times_us, 0.5);
  row.flops = sum(kept.flops, expansion.flops);
  row.hbm_bytes_model = sum(kept.hbm_bytes_model, expansion.hbm_bytes);
  if (row.flops && row.hbm_bytes_model) row.intensity_model = *row.flops / *row.hbm_bytes_model;
  row.read_ceiling_gbps = kept.read_ceiling_gbps;
  row.matmul_ceiling_tflops = kept.matmul_ceiling_tflops;
  return row;
}

bool has_time(const Row& row) { return row.status == Status::ok && row.time_us; }

}  // namespace

std::vector<Row> reexpanded_rows(std::span<const Row> rows) {
  std::map<std::string, Expansion> expansions;
  std::set<std::string> measured;
  for (const Row& row : rows) {
    if (!has_time(row)) continue;
    if (row.kernel == kAnewKernel) measured.insert(key_without(row, kKernelAxis));
    if (row.kernel != kExpandKernel) continue;
    Expansion& expansion = expansions[key_without(row, kExpansionAxes)];
    expansion.times_us.push_back(*row.time_us);
    expansion.flops = row.flops;
    expansion.hbm_bytes = row.hbm_bytes_model;
  }
  std::vector<Row> sums;
  if (expansions.empty()) return sums;
  for (const Row& row : rows) {
    if (!has_time(row) || row.kernel != kKeptKernel) continue;
    const auto expansion = expansions.find(key_without(row, kExpansionAxes));
    if (expansion == expansions.end() || measured.contains(key_without(row, kKernelAxis))) continue;
    sums.push_back(added(row, expansion->second));
  }
  return sums;
}

}  // namespace headsplit::coordinator
