#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "coordinator/erosion.h"
#include "tp/model.h"

namespace headsplit::coordinator {

/// One structure of attention under one head split: how often a rank uses each byte it reads.
struct AttentionLine {
  std::string model;
  std::string device;
  std::string structure;  ///< MHA, GQA, MQA, MLA
  std::string kernel;
  int batch = 1;
  int query_tokens = 1;
  std::int64_t context = 1;
  int tp = 1;
  int local_heads = 0;
  int local_kv_heads = 0;  ///< heads of the cache on this rank; 1 for the latent
  /// The seeds' figure for a rank with its heads: T for MHA, T Hq/Hkv for GQA, T Hq for MQA, and
  /// 2 T Hq for MLA without its RoPE segment.
  double intensity_limit_flop_per_byte = 0;
  std::optional<double> intensity_model_flop_per_byte;  ///< with Q, O and the RoPE segment counted
  std::optional<double> intensity_measured_flop_per_byte;  ///< by DRAM counters
  std::optional<double> measured_over_model;
  std::optional<double> reuse_retained;  ///< intensity over that of tp1, both of one provenance
  std::optional<double> time_us;
  std::optional<double> gbps;

  bool operator==(const AttentionLine&) const = default;
};
BOOST_DESCRIBE_STRUCT(AttentionLine, (),
                      (model, device, structure, kernel, batch, query_tokens, context, tp,
                       local_heads, local_kv_heads, intensity_limit_flop_per_byte,
                       intensity_model_flop_per_byte, intensity_measured_flop_per_byte,
                       measured_over_model, reuse_retained, time_us, gbps))

/// The structures beside each other: of each problem that was run with two or more of mha_decode,
/// gqa_decode, mqa_decode and mla_dense, one line a structure and tp (dp 1, cp 1).  Problems in the
/// order of the cells; in each MHA, GQA, MQA, MLA.  Cells whose model is not known to
/// tp::read_model are left out: nothing says how many KV heads they have.
std::vector<AttentionLine> attention_table(std::span<const ErosionCell> cells);

}  // namespace headsplit::coordinator
