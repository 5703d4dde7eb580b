#include "tp/layer_count.h"

#include <algorithm>

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

/// Which layers keep a cache of every token, by the two lists of a hybrid.
Result<std::vector<bool>> listed_layers(const ConfigJson& linear, int decoder) {
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
  std::vector<bool> is_attention(all.size(), false);
  for (const int layer : *full) is_attention[static_cast<std::size_t>(layer - one_based)] = true;
  return is_attention;
}

/// The same by `layer_types`, whose words differ: whatever is not linear, sliding or chunked
/// ("full_attention", "deepseek_sparse_attention") keeps every token.
Result<std::vector<bool>> typed_layers(const ConfigJson& config, int decoder) {
  const auto types = TRY(config.words("layer_types"));
  const auto size = static_cast<int>(types->size());
  if (size != decoder && size != decoder + 1) {
    return config.complaint("layer_types", str("has ", size, " entries for ", decoder, " layers"));
  }
  std::vector<bool> is_attention;
  for (int i = 0; i < decoder; ++i) {
    const std::string& type = (*types)[static_cast<std::size_t>(i)];
    const bool bounded = type.find("linear") != std::string::npos ||
                         type.find("sliding") != std::string::npos ||
                         type.find("chunked") != std::string::npos;
    is_attention.push_back(!bounded);
  }
  return is_attention;
}

Result<std::vector<bool>> attention_layers(const ConfigJson& config, int decoder) {
  const auto linear = config.child("linear_attn_config");
  if (!linear && !config.has("layer_types")) {
    return std::vector<bool>(static_cast<std::size_t>(decoder), true);
  }
  if (!linear) return typed_layers(config, decoder);
  const auto listed = TRY(listed_layers(*linear, decoder));
  if (config.has("layer_types") && TRY(typed_layers(config, decoder)) != listed) {
    return config.complaint("layer_types", "contradicts linear_attn_config.full_attn_layers");
  }
  return listed;
}

/// LongCat by its name, or by the pair of fields only it has.
Result<bool> is_longcat(const ConfigJson& config) {
  const std::string type = TRY(config.word("model_type"));
  const auto architectures = TRY(config.words("architectures"));
  const std::string first = architectures && !architectures->empty() ? architectures->front() : "";
  return type.rfind("longcat", 0) == 0 || first.rfind("Longcat", 0) == 0 ||
         (config.has("num_layers") && config.has("zero_expert_num"));
}

}  // namespace

Result<LayerCount> layer_count(const ConfigJson& config) {
  if (TRY(is_longcat(config))) return longcat_layers(config);
  LayerCount count;
  const FieldNames names{{"num_hidden_layers", "num_layers", "n_layers", "n_layer"}};
  count.decoder = TRY(config.required(names, 1, kLayersMax, "layers of the model"));
  count.mtp = TRY(config.integer({{"num_nextn_predict_layers"}}, 0, kLayersMax)).value_or(0);
  if (config.has("layer_group_size")) {
    return config.complaint("layer_group_size",
                            "mixes linear attention and MLA in groups; which layer of a group is "
                            "MLA is not stated, so the cache cannot be counted");
  }
  count.is_attention = TRY(attention_layers(config, count.decoder));
  const auto kept = std::count(count.is_attention.begin(), count.is_attention.end(), true);
  count.attention = static_cast<int>(kept);
  if (kept == 0) return config.complaint("no layer of it keeps a cache of every token");
  if (count.attention != count.decoder) {
    count.notes.push_back(
        str(count.attention, " of ", count.decoder, " layers keep a cache of every token"));
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
    const auto at = static_cast<std::size_t>(i);
    const std::string& type = (*types)[at];
    if (type != "full" && type != "shared") {
      return config.complaint("indexer_types", shown(type) + " is not one of: full, shared");
    }
    const bool attends = layers.is_attention.empty() || layers.is_attention[at];
    if (type == "full" && attends) ++full;
  }
  return full;
}

}  // namespace headsplit::tp
