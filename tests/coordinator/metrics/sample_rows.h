#pragma once

#include <string>

#include "core/row.h"

namespace headsplit::coordinator {

/// A row of a split over `tp` ranks as a GPU would give it: the cache is read whole by each rank,
/// time falls less than the work.
inline Row sample_row(int tp, double time_us) {
  Row row;
  row.point_id = "point-tp" + std::to_string(tp);
  row.epoch = 1;
  row.sweep = "erosion";
  row.agent = "node1-0";
  row.device = "Test GPU";
  row.status = Status::ok;
  row.model = "deepseek-v3";
  row.kernel = "mla_dense";
  row.layout = "tp" + std::to_string(tp);
  row.tp = tp;
  row.batch = 64;
  row.query_tokens = 1;
  row.context = 8192;
  row.time_us = time_us;
  row.flops = 1.46e11 / tp;
  row.kv_bytes_model = 6.04e8;
  row.hbm_bytes_model = 6.2e8;
  row.intensity_model = *row.flops / *row.hbm_bytes_model;
  row.tflops = *row.flops / time_us * 1e-6;
  row.gbps = *row.hbm_bytes_model / time_us * 1e-3;
  row.roofline_fraction = 0.7;
  return row;
}

/// The same with hardware counters.
inline Row counted_row(int tp, double time_us) {
  Row row = sample_row(tp, time_us);
  row.dram_bytes_read = 6.1e8;
  row.dram_bytes_written = 1e7;
  row.tensor_ops = *row.flops * 1.1;
  row.intensity_measured = *row.flops / (*row.dram_bytes_read + *row.dram_bytes_written);
  row.intensity_source = Provenance::measured;
  return row;
}

}  // namespace headsplit::coordinator
