#pragma once

#include <string>
#include <vector>

#include "core/json.h"
#include "core/point.h"
#include "tp/model.h"

namespace headsplit::tp {

/// Cache that one request of `context` tokens needs in `layers` layers.
struct CacheSize {
  std::string attention;  ///< "MHA (96 KV heads)"
  double values_per_token = 0;
  double bytes_per_token = 0;  ///< all layers
  double gib = 0;              ///< the whole request

  bool operator==(const CacheSize&) const = default;
};
BOOST_DESCRIBE_STRUCT(CacheSize, (), (attention, values_per_token, bytes_per_token, gib))

/// The same heads under MHA, GQA with 8 groups, MQA and, when the model has one, its latent (with
/// and without the RoPE key, and in both forms of FP8).  Heads of the first three are d_nope + d_v
/// wide, as the seeds count them.  layers: normally model.layers.
std::vector<CacheSize> cache_sizes(const Model& model, std::int64_t context, int layers);

/// Bytes of one token of the model's own cache in one layer: BF16, FP8 with its scales, or FP8
/// with one.
double cache_bytes_per_token(const Model& model, KvDtype dtype);

}  // namespace headsplit::tp
