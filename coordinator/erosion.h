#pragma once

#include <cstdint>
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
  int kv_duplication = 1;                ///< times each cached token is stored: tp, for a latent
  std::optional<double> gbps;            ///< modelled HBM bytes over time
  std::optional<double> gflops;          ///< useful GFLOP/s

  bool operator==(const ErosionLine&) const = default;
};
BOOST_DESCRIBE_STRUCT(ErosionLine, (),
                      (layout, tp, dp, cp, rank_count, local_heads, status, reason, repeats_ok,
                       repeats, resumed, time_us, time_p10_us, time_p90_us, speedup, efficiency,
                       intensity_flop_per_byte, intensity_source, reuse_retained, kv_duplication,
                       gbps, gflops))

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
  std::string device;  ///< of the first ok row
  std::string backend;
  std::vector<ErosionLine> lines;

  bool operator==(const ErosionCell&) const = default;
};
BOOST_DESCRIBE_STRUCT(ErosionCell, (),
                      (sweep, model, kernel, kv_dtype, lengths, l2, batch, query_tokens, context,
                       ranks, device, backend, lines))

/// What head splits did, cell by cell, in the order of the rows; JSON by to_json.
std::vector<ErosionCell> erosion(std::span<const Row> rows);

/// The same as aligned columns for people, ASCII only; ends with a newline.
std::string erosion_text(std::span<const ErosionCell> cells);

/// One line for each layout that has repeats which are not ok: which, and why.
std::vector<std::string> erosion_notes(std::span<const ErosionCell> cells);

}  // namespace headsplit::coordinator
