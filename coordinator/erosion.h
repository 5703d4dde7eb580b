#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/row.h"

namespace headsplit::coordinator {

/// One layout of a cell: what one rank took and moved, against one rank alone.  Figures are per
/// rank, attention core, one layer; absent where no row is ok.
struct ErosionLine {
  std::string layout;
  int tp = 1;
  int dp = 1;
  int cp = 1;
  int rank_count = 1;
  int local_heads = 0;
  Status status = Status::failed;  ///< ok when any repeat is
  std::string reason;              ///< of the first repeat that is not ok
  int repeats_ok = 0;
  int repeats = 0;
  bool resumed = false;               ///< a row of it is from an earlier run
  std::optional<double> time_us;      ///< median over the repeats' medians
  std::optional<double> time_p10_us;  ///< over the samples of all repeats
  std::optional<double> time_p90_us;
  std::optional<double> speedup;     ///< time of tp1 over this time
  std::optional<double> efficiency;  ///< speedup / rank_count
  std::optional<double> intensity_flop_per_byte;
  Provenance intensity_source = Provenance::model;
  std::optional<double> reuse_retained;  ///< intensity over that of tp1, both of one provenance
  /// Times each cached token is stored: tp for a latent or one KV head, 1 where every head has its
  /// own K and V.  Groups of heads are known by the caches of tp1 and of this layout only.
  std::optional<int> kv_duplication;
  std::optional<double> gbps;          ///< modelled HBM bytes over time
  std::optional<double> gflops;        ///< useful GFLOP/s
  Limiter limiter = Limiter::unknown;  ///< of most repeats
  std::optional<double> intensity_model_flop_per_byte;
  std::optional<double> dram_bytes;        ///< counted, reads and writes
  std::optional<double> hbm_bytes_model;   ///< least, by the formula
  std::optional<double> time_model_us;     ///< roofline of the device's data sheet
  std::optional<double> time_roofline_us;  ///< the same on the ceilings measured on this device
  std::optional<double> roofline_fraction;
  int throttled = 0;  ///< of the ok repeats

  bool operator==(const ErosionLine&) const = default;
};
BOOST_DESCRIBE_STRUCT(ErosionLine, (),
                      (layout, tp, dp, cp, rank_count, local_heads, status, reason, repeats_ok,
                       repeats, resumed, time_us, time_p10_us, time_p90_us, speedup, efficiency,
                       intensity_flop_per_byte, intensity_source, reuse_retained, kv_duplication,
                       gbps, gflops, limiter, intensity_model_flop_per_byte, dram_bytes,
                       hbm_bytes_model, time_model_us, time_roofline_us, roofline_fraction,
                       throttled))

/// One problem, under every layout it was run with.
struct ErosionCell {
  std::string sweep;
  std::string model;
  std::string kernel;
  KvDtype kv_dtype = KvDtype::bf16;
  Lengths lengths = Lengths::equal;
  L2 l2 = L2::cold;
  int batch = 1;
  int query_tokens = 1;
  std::int64_t context = 1;
  Ranks ranks = Ranks::emulated;
  int fixed_splits = 0;
  int top_k = 0;       ///< fixed by the sweep; 0: the model's
  std::string device;  ///< of the first ok row
  std::string backend;
  std::vector<ErosionLine> lines;

  bool operator==(const ErosionCell&) const = default;
};
BOOST_DESCRIBE_STRUCT(ErosionCell, (),
                      (sweep, model, kernel, kv_dtype, lengths, l2, batch, query_tokens, context,
                       ranks, fixed_splits, top_k, device, backend, lines))

/// What a data sheet says of a row's time; nothing for devices without one.
using TimeOfRow = std::function<std::optional<double>(const Row&)>;

/// What head splits did, cell by cell, in the order of the rows; JSON by to_json.  Rows of
/// collectives alone have nothing that erodes and do not count.
/// time_model_us: asked once a line; empty: no line has one.
std::vector<ErosionCell> erosion(std::span<const Row> rows, const TimeOfRow& time_model_us = {});

/// The same as aligned columns for people, ASCII only; ends with a newline.
std::string erosion_text(std::span<const ErosionCell> cells);

/// One line for each layout that has repeats which are not ok: which, and why.
std::vector<std::string> erosion_notes(std::span<const ErosionCell> cells);

}  // namespace headsplit::coordinator
