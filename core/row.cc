#include "core/row_point.h"

namespace headsplit {

HEADSPLIT_JSON_HERE(Row)

RowPoint row_point_of(const Point& point) {
  RowPoint row;
  row.model = point.model;
  row.kernel = point.kernel;
  row.layout = layout_name(point.layout);
  row.tp = point.layout.tp;
  row.dp = point.layout.dp;
  row.cp = point.layout.cp;
  row.ranks = point.ranks;
  row.batch = point.batch;
  row.query_tokens = point.query_tokens;
  row.context = point.context;
  row.kv_dtype = point.kv_dtype;
  row.lengths = point.lengths;
  row.l2 = point.l2;
  row.repeat = point.repeat;
  row.message_bytes = point.message_bytes;
  row.fixed_splits = point.fixed_splits;
  row.top_k = point.top_k;
  return row;
}

std::optional<double> counted_dram_bytes(const RowWork& row) {
  if (!row.dram_bytes_read || !row.dram_bytes_written) return std::nullopt;
  return *row.dram_bytes_read + *row.dram_bytes_written;
}

Row row_of(const Point& point) {
  Row row;
  static_cast<RowPoint&>(row) = row_point_of(point);
  row.point_id = point_id(point);
  return row;
}

}  // namespace headsplit
