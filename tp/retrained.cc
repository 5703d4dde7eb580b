#include "tp/retrained.h"

#include "tp/work.h"

namespace headsplit::tp {
namespace {

struct Scheme {
  const char* name;
  Exactness exactness;
  int slices;             ///< parts of the latent, one a rank
  bool heads_stay_whole;  ///< each part is attended by all heads of its ranks' group
  const char* note;
};

constexpr Scheme kSchemes[] = {
    {"MLA", Exactness::exact, 1, false, "every rank keeps the whole latent"},
    {"TPLA-2", Exactness::approximate, 2, true,
     "norm and softmax are computed on half a latent; prefill stays MLA"},
    {"GLA-2", Exactness::retrained, 2, false, "two latent heads, each for half of the query heads"},
    {"MLRA-4", Exactness::retrained, 4, true, "four latent blocks whose outputs are summed"}};

/// Heads that one rank computes: whole groups of `slices` ranks share the heads when each part is
/// attended by all of them, else the heads are simply split.
double heads_of_rank(const Scheme& scheme, int heads, int ranks) {
  return scheme.heads_stay_whole ? 1.0 * heads * scheme.slices / ranks : 1.0 * heads / ranks;
}

LatentScheme row_of(const Scheme& scheme, const Model& model, const Point& point, int ranks) {
  const double slice = 1.0 * model.d_latent / scheme.slices;
  const double heads = heads_of_rank(scheme, model.heads, ranks);
  const double tokens = static_cast<double>(point.batch) * static_cast<double>(point.context);
  const double flops_per_token = 2 * heads * point.query_tokens * (2 * slice + model.d_rope);
  LatentScheme row{.scheme = scheme.name, .exactness = scheme.exactness, .ranks = ranks};
  row.bytes_per_token = kBf16Bytes * (slice + model.d_rope);
  row.flops = flops_per_token * tokens;
  row.kv_bytes = row.bytes_per_token * tokens;
  row.intensity_flop_per_byte = flops_per_token / row.bytes_per_token;
  row.collectives = ranks > 1 ? "all-reduce after the output projection" : "none";
  row.note = scheme.note;
  return row;
}

}  // namespace

std::vector<LatentScheme> latent_schemes(const Model& model, const Point& point,
                                         const std::vector<int>& ranks) {
  std::vector<LatentScheme> rows;
  for (const Scheme& scheme : kSchemes) {
    for (const int count : ranks) {
      const bool possible = count % scheme.slices == 0 && model.heads % count == 0;
      if (possible) rows.push_back(row_of(scheme, model, point, count));
    }
  }
  return rows;
}

}  // namespace headsplit::tp
