#pragma once

#include <string>

#include "core/row.h"

namespace headsplit::coordinator {

/// An ok row of a made-up GPU: mla_dense, bf16, cold, one rank.  `at` gives the rest.
inline Row made_row(const std::string& id, double time_us) {
  Row row;
  row.point_id = id;
  row.sweep = "made";
  row.node = "node";
  row.backend = "cuda";
  row.device = "GPU X";
  row.gpu_uuid = "GPU-1";
  row.driver = "1.0";
  row.cuda = "13.0";
  row.build = "b1";
  row.status = Status::ok;
  row.model = "deepseek-v3";
  row.kernel = "mla_dense";
  row.layout = "tp1";
  row.local_heads = 128;
  row.batch = row.rank_batch = 64;
  row.query_tokens = 1;
  row.context = row.rank_context = 16384;
  row.time_us = time_us;
  return row;
}

/// The same problem for one of `tp` head-parallel ranks.
inline Row split_by_heads(Row row, int tp) {
  row.tp = tp;
  row.layout = "tp" + std::to_string(tp);
  row.local_heads = 128 / tp;
  return row;
}

}  // namespace headsplit::coordinator
