#pragma once

#include <string>
#include <vector>

#include "core/point.h"
#include "tp/model.h"

namespace headsplit::tp {

/// Whether the layout computes the model's own attention.
enum class Exactness { exact, approximate, retrained };
BOOST_DESCRIBE_ENUM(Exactness, exact, approximate, retrained)

/// One rank of a head-parallel group of MLA or of a scheme that shards the latent itself: one
/// layer, BF16 cache, attention core.
struct LatentScheme {
  std::string scheme;  ///< "TPLA (2 slices)"
  Exactness exactness = Exactness::exact;
  int ranks = 1;
  double bytes_per_token = 0;  ///< cache row that one rank keeps and reads
  double flops = 0;
  double kv_bytes = 0;
  double intensity_flop_per_byte = 0;  ///< long-context limit
  std::string collectives;
  std::string note;

  bool operator==(const LatentScheme&) const = default;
};
BOOST_DESCRIBE_STRUCT(LatentScheme, (),
                      (scheme, exactness, ranks, bytes_per_token, flops, kv_bytes,
                       intensity_flop_per_byte, collectives, note))

/// MLA, TPLA, GLA-2 and MLRA-4 at each number of ranks; those that a scheme cannot have are left
/// out.  Per rank, with g slices or groups and H heads over P ranks:
///   MLA      row D,            heads H / P:    AI 2 T H/P (D + d_latent) / 2 D
///   TPLA g=2 row d_latent/2 + d_rope, heads 2 H / P (approximate: norms and softmax are sliced)
///   GLA-2    row d_latent/2 + d_rope, heads H / P (a model trained so)
///   MLRA-4   row d_latent/4 + d_rope, heads 4 H / P (a model trained so)
/// Source: docs/model.md, "Layouts that change the model".
std::vector<LatentScheme> latent_schemes(const Model& model, const Point& point,
                                         const std::vector<int>& ranks);

}  // namespace headsplit::tp
