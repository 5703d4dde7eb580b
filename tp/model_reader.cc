#include "tp/model_reader.h"

#include <utility>

#include "core/nearest.h"
#include "tp/config_json.h"
#include "tp/layer_count.h"

namespace headsplit::tp {
namespace {

constexpr int kHeadsMax = 4096;
constexpr int kWidthMax = 1 << 16;
constexpr int kHiddenMax = 1 << 20;

const FieldNames kKvRank{{"kv_lora_rank", "attention_kv_lora_dim"}};
const FieldNames kQRank{{"q_lora_rank", "attention_q_lora_dim"}};
const FieldNames kNope{{"qk_nope_head_dim", "attention_qk_dim"}};
const FieldNames kRope{{"qk_rope_head_dim", "attention_qk_rope_dim"}};
const FieldNames kValue{{"v_head_dim", "attention_v_dim"}};
const FieldNames kHeads{{"num_attention_heads", "n_heads", "n_head"}};
const FieldNames kHidden{{"hidden_size", "dim", "n_embd"}};
/// Keys that only a latent or low-rank model has; without a KV rank they are a riddle.
const FieldNames kLatentOnly{{"qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim", "q_lora_rank",
                              "attention_qk_dim", "attention_v_dim", "qk_nope_dim", "qk_rope_dim",
                              "v_channels"}};

/// The part that describes the text model: itself, or text_config and its kin.
struct TextPart {
  ConfigJson config;
  std::vector<std::string> notes;
};

TextPart text_part(const ConfigJson& top) {
  for (const char* name : {"text_config", "llm_config", "language_config"}) {
    auto inner = top.child(name);
    if (!inner || !(inner->has_any(kKvRank) || inner->has_any(kHeads))) continue;
    const bool both = top.has_any(kKvRank);
    // A nested latent model wins over keys at the top; a nested vision-only block does not.
    if (both && !inner->has_any(kKvRank)) continue;
    std::vector<std::string> notes = {str("read from ", name,
                                          both ? "; the top level has MLA "
                                                 "fields too, not used"
                                               : "")};
    return {std::move(*inner), std::move(notes)};
  }
  return {top, {}};
}

/// DeepSeek-V4 compresses across tokens: a cache row is not a token, so no formula here fits it.
bool compresses_tokens(const ConfigJson& config) {
  return config.has("compress_ratios") && !config.has_any(kKvRank);
}

Result<void> check_compress_ratios(const ConfigJson& config, const LayerCount& layers) {
  const auto size = TRY(config.list_size("compress_ratios"));
  if (!size) return {};
  const auto decoder = static_cast<std::size_t>(layers.decoder);
  if (*size == decoder || *size == decoder + 1) return {};
  return config.complaint("compress_ratios",
                          str("has ", *size, " entries for ", layers.decoder, " layers (or ",
                              layers.decoder + 1, " with the MTP layer)"));
}

Result<void> read_query_rank(const ConfigJson& config, Model& model) {
  const auto rank = TRY(config.integer(kQRank, 0, kWidthMax));
  if (rank && *rank == 0) {
    return config.complaint("q_lora_rank", "0 is no rank; leave it out or null for a direct query");
  }
  model.q_lora_rank = rank;
  if (!rank) model.notes.push_back("no q_lora_rank: the query is projected straight from hidden");
  return {};
}

Result<void> read_indexer(const ConfigJson& config, const LayerCount& layers, Model& model) {
  model.index_topk = TRY(config.integer({{"index_topk"}}, 1, 1 << 24)).value_or(0);
  if (model.index_topk == 0) return {};
  model.index_heads =
      TRY(config.required({{"index_n_heads"}}, 1, kHeadsMax, "query heads of the indexer"));
  model.index_dim =
      TRY(config.required({{"index_head_dim"}}, 1, kWidthMax, "width of an indexer head"));
  model.index_pool = TRY(config.integer({{"index_kpool"}}, 1, kWidthMax)).value_or(1);
  model.indexer_layers = TRY(indexer_layer_count(config, layers));
  return {};
}

Result<Model> latent_model(const ConfigJson& config, const LayerCount& layers, Model model) {
  model.attention = Attention::mla;
  model.kv_heads = 1;
  const auto rank = TRY(config.integer(kKvRank, 0, kWidthMax));
  if (rank.value_or(0) == 0) {
    return config.complaint("kv_lora_rank", "0 is no rank: MLA caches a latent of that width");
  }
  model.d_latent = *rank;
  model.d_nope = TRY(config.required(kNope, 1, kWidthMax, "query/key width without RoPE"));
  model.d_rope =
      TRY(config.required(kRope, 0, kWidthMax, "width of the shared RoPE key, may be 0"));
  const auto value = TRY(config.integer(kValue, 1, kWidthMax));
  model.d_v = value.value_or(model.d_nope);
  if (!value) {
    model.notes.push_back(str("no v_head_dim: assumed equal to qk_nope_head_dim, ", model.d_nope));
  }
  TRY(read_query_rank(config, model));
  TRY(read_indexer(config, layers, model));
  model.output_gate = TRY(config.flag("mla_use_output_gate"));
  const bool usual = model.d_latent == 512 && model.d_rope == 64;
  if (!usual) {
    model.notes.push_back(str("cache row ", model.d_latent, " + ", model.d_rope,
                              ": published kernels (FlashMLA, FlashInfer) want 512 + 64"));
  }
  return model;
}

Result<int> kv_head_count(const ConfigJson& config, Model& model) {
  const bool one_head = TRY(config.flag("multi_query"));
  const bool new_falcon = TRY(config.flag("new_decoder_architecture"));
  if (one_head && !new_falcon) return 1;
  const FieldNames names{{"num_key_value_heads", "num_kv_heads", "n_kv_heads", "n_head_kv"}};
  const auto heads = TRY(config.integer(names, 1, kHeadsMax));
  if (!heads) {
    model.notes.push_back("no num_key_value_heads: every head has its own K and V");
    return model.heads;
  }
  if (model.heads % *heads != 0) {
    return config.complaint(str(*heads, " KV heads do not divide ", model.heads, " query heads"));
  }
  return *heads;
}

Result<Model> per_head_model(const ConfigJson& config, Model model) {
  model.kv_heads = TRY(kv_head_count(config, model));
  model.attention = model.kv_heads == model.heads ? Attention::mha
                    : model.kv_heads == 1         ? Attention::mqa
                                                  : Attention::gqa;
  const auto width = TRY(config.integer({{"head_dim"}}, 1, kWidthMax));
  if (!width && model.hidden % model.heads != 0) {
    return config.complaint(str("no head_dim, and hidden ", model.hidden, " is not a multiple of ",
                                model.heads, " heads"));
  }
  model.d_nope = width.value_or(model.hidden / model.heads);
  model.d_v = model.d_nope;
  return model;
}

Error not_a_model(const ConfigJson& config) {
  if (config.has_any(kLatentOnly)) {
    return config.complaint(
        "has fields of latent attention but no kv_lora_rank, so the width of its cache is unknown");
  }
  return config.complaint(
      str("no attention of a language model in it: needs num_attention_heads "
          "and hidden_size, and for MLA kv_lora_rank, qk_nope_head_dim, "
          "qk_rope_head_dim and v_head_dim"));
}

Result<Model> named_model(const ConfigJson& top, const std::string& file) {
  Model model{.name = file, .title = file, .source = file};
  if (const auto about = top.child("headsplit")) {
    model.title = TRY(about->word("title"));
    model.source = TRY(about->word("source"));
  }
  return model;
}

}  // namespace

Result<Model> model_from_config(const std::string& text, const std::string& file) {
  const ConfigJson top = TRY(ConfigJson::parse(text, file));
  Model model = TRY(named_model(top, file));
  const TextPart part = text_part(top);
  const ConfigJson& config = part.config;
  model.notes = part.notes;
  if (compresses_tokens(config)) {
    return config.complaint(
        "compress_ratios",
        "this is DeepSeek-V4's attention, which compresses across tokens: a cache row is not one "
        "token and there is no kv_lora_rank, so MLA's formulas do not hold for it");
  }
  if (!config.has_any(kHeads) || !config.has_any(kHidden)) return not_a_model(config);
  model.heads = TRY(config.required(kHeads, 1, kHeadsMax, "query heads"));
  model.hidden = TRY(config.required(kHidden, 1, kHiddenMax, "width of the residual stream"));
  if (!config.has_any(kKvRank) && config.has_any(kLatentOnly)) return not_a_model(config);
  const LayerCount layers = TRY(layer_count(config));
  TRY(check_compress_ratios(config, layers));
  model.layers = layers.attention;
  model.decoder_layers = layers.decoder;
  model.mtp_layers = layers.mtp;
  model.notes.insert(model.notes.end(), layers.notes.begin(), layers.notes.end());
  if (config.has_any(kKvRank)) return latent_model(config, layers, std::move(model));
  return per_head_model(config, std::move(model));
}

}  // namespace headsplit::tp
