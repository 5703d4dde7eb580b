#include "tp/layer_count.h"

#include <algorithm>
#include <numeric>

namespace headsplit::tp {
namespace {

constexpr int kLayersMax = 4096;
const FieldNames kLayers{{"num_hidden_layers", "n_layers", "n_layer"}};

bool counts_up_from(int first, const std::vector<int>& sorted) {
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    if (sorted[i] != first + static_cast<int>(i)) return false;
  }
  return true;
}

/// The layers of LongCat come in pairs of attentions; its own field counts the pairs.
Result<LayerCount> longcat_layers(const ConfigJson& config) {
  LayerCount count;
  const int pairs = TRY(config.required({{"num_layers"}}, 1, kLayersMax, "layers of the model"));
  const auto all = TRY(config.integer(kLayers, 1, 2 * kLayersMax));
  if (all && *all != pairs && *all != 2 * pairs) {
    return config.complaint("num_hidden_layers",
                            str(*all, " contradicts num_layers ", pairs, " (two attentions each)"));
  }
  count.attention = 2 * pairs;
  count.decoder = pairs;
  count.notes.push_back(str("two attentions a layer: ", 2 * pairs, " in ", pairs, " layers"));
  return count;
}

Result<int> hybrid_layers(const ConfigJson& linear, int decoder, LayerCount& count) {
  const auto full = TRY(linear.integers("full_attn_layers", 0, kLayersMax));
  const auto kda = TRY(linear.integers("kda_layers", 0, kLayersMax));
  if (!full) return linear.complaint("no full_attn_layers (which layers keep a KV cache)");
  std::vector<int> all = *full;
  if (kda) all.insert(all.end(), kda->begin(), kda->end());
  std::sort(all.begin(), all.end());
  const bool complete = all.size() == static_cast<std::size_t>(decoder);
  const bool one_based = complete && counts_up_from(1, all);
  if (!one_based && !(complete && counts_up_from(0, all))) {
    return linear.complaint("full_attn_layers",
                            str("with kda_layers it must name each of the ", decoder,
                                " layers once, as 1..", decoder, " or 0..", decoder - 1));
  }
  count.notes.push_back(str(full->size(), " of ", decoder, " layers are full attention (",
                            one_based ? "1" : "0", "-based list)"));
  return static_cast<int>(full->size());
}

Result<int> typed_layers(const ConfigJson& config, int decoder, LayerCount& count) {
  const auto types = TRY(config.words("layer_types"));
  if (!types) return decoder;
  const auto size = static_cast<int>(types->size());
  if (size != decoder && size != decoder + 1) {
    return config.complaint("layer_types", str("has ", size, " entries for ", decoder, " layers"));
  }
  int full = 0;
  for (int i = 0; i < decoder; ++i) {
    const std::string& type = (*types)[static_cast<std::size_t>(i)];
    // "full_attention", "deepseek_sparse_attention" and their kin keep a cache of every token.
    const bool bounded = type.find("linear") != std::string::npos ||
                         type.find("sliding") != std::string::npos ||
                         type.find("chunked") != std::string::npos;
    if (!bounded) ++full;
  }
  if (full == 0) return config.complaint("layer_types", "no layer keeps a cache of every token");
  if (full != decoder) {
    count.notes.push_back(str(full, " of ", decoder, " layers keep every token (layer_types)"));
  }
  return full;
}

}  // namespace

Result<LayerCount> layer_count(const ConfigJson& config) {
  const std::string type = TRY(config.word("model_type"));
  const auto architectures = TRY(config.words("architectures"));
  const bool longcat =
      type.rfind("longcat", 0) == 0 ||
      (architectures && !architectures->empty() && architectures->front().rfind("Longcat", 0) == 0);
  if (longcat) return longcat_layers(config);
  LayerCount count;
  const FieldNames names{{"num_hidden_layers", "num_layers", "n_layers", "n_layer"}};
  count.decoder = TRY(config.required(names, 1, kLayersMax, "layers of the model"));
  count.mtp = TRY(config.integer({{"num_nextn_predict_layers"}}, 0, kLayersMax)).value_or(0);
  if (config.has("layer_group_size")) {
    return config.complaint("layer_group_size",
                            "mixes linear attention and MLA in groups; which layer of a group is "
                            "MLA is not stated, so the cache cannot be counted");
  }
  if (const auto linear = config.child("linear_attn_config")) {
    count.attention = TRY(hybrid_layers(*linear, count.decoder, count));
  } else {
    count.attention = TRY(typed_layers(config, count.decoder, count));
  }
  return count;
}

Result<int> indexer_layer_count(const ConfigJson& config, const LayerCount& layers) {
  const auto types = TRY(config.words("indexer_types"));
  if (!types) return layers.attention;
  const auto size = static_cast<int>(types->size());
  if (size != layers.decoder && size != layers.decoder + 1) {
    return config.complaint("indexer_types",
                            str("has ", size, " entries for ", layers.decoder, " layers (or ",
                                layers.decoder + 1, " with the MTP layer)"));
  }
  int full = 0;
  for (int i = 0; i < layers.decoder; ++i) {
    const std::string& type = (*types)[static_cast<std::size_t>(i)];
    if (type != "full" && type != "shared") {
      return config.complaint("indexer_types", "'" + type + "' is not one of: full, shared");
    }
    if (type == "full") ++full;
  }
  return full;
}

}  // namespace headsplit::tp
