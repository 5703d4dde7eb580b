#pragma once

#include <string>
#include <vector>

#include "core/result.h"
#include "tp/config_json.h"

namespace headsplit::tp {

/// Layers of a model by kind, and how the reader came to the count.
struct LayerCount {
  int attention = 0;               ///< layers whose KV cache grows with the context
  int decoder = 0;                 ///< all of them
  int mtp = 0;                     ///< multi-token-prediction layers beside them
  std::vector<bool> is_attention;  ///< [decoder]; which of the layers those are
  std::vector<std::string> notes;
};

/// Attention layers of a config: `linear_attn_config.full_attn_layers` when it is there (1-based
/// when it and kda_layers are exactly 1..N, 0-based when 0..N-1), else the `layer_types` that say
/// full_attention, else all; LongCat has two attentions a layer.
/// Fails: config (no count, or lists that contradict each other).
/// Source: the reader rules 5 and 6 of docs/model.md.
Result<LayerCount> layer_count(const ConfigJson& config);

/// Layers that run the sparse-attention indexer themselves: those whose `indexer_types` entry is
/// "full", else all attention layers.  Fails: config (a list of another length than the layers,
/// or the layers and the MTP layer; an unknown word).
Result<int> indexer_layer_count(const ConfigJson& config, const LayerCount& layers);

}  // namespace headsplit::tp
