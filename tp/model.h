#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/json.h"

namespace headsplit::tp {

/// How the layers of a model keep their history: one shared latent (mla), or K and V of their own
/// for every head, for groups of heads, or one for all.
enum class Attention { mla, mha, gqa, mqa };
BOOST_DESCRIBE_ENUM(Attention, mla, mha, gqa, mqa)

/// The attention of a model, as its config.json gives it.  All widths in values, not bytes.
struct Model {
  std::string name;    ///< built-in name, or the path it was read from
  std::string title;   ///< as its makers write it
  std::string source;  ///< where the figures come from
  Attention attention = Attention::mla;
  int heads = 0;           ///< query heads
  int kv_heads = 1;        ///< heads of the cache; 1 for MLA's latent
  int layers = 0;          ///< attention layers of this kind: the ones with a KV cache that grows
  int decoder_layers = 0;  ///< all layers, linear attention included
  int mtp_layers = 0;      ///< multi-token-prediction layers beside them
  int hidden = 0;
  std::optional<int> q_lora_rank;  ///< absent: the query is projected straight from hidden
  int d_latent = 0;                ///< kv_lora_rank; 0 for per-head attention
  int d_rope = 0;                  ///< width of the RoPE key all heads share; 0 is legal
  int d_nope = 0;                  ///< query/key width of a head without the RoPE part
  int d_v = 0;                     ///< value width of a head
  int index_topk = 0;              ///< tokens that sparse attention keeps; 0: dense
  int index_heads = 0;
  int index_dim = 0;
  int index_pool = 1;              ///< tokens that share one index key
  int indexer_layers = 0;          ///< layers that run the indexer themselves
  bool output_gate = false;        ///< a gate as wide as the heads' output, before the projection
  std::vector<std::string> notes;  ///< what the reader decided, for people

  bool is_mla() const { return attention == Attention::mla; }
  /// Values of one cached token: the latent and the RoPE key, or K and V of all KV heads.
  int cache_row_values() const {
    return is_mla() ? d_latent + d_rope : kv_heads * (d_nope + d_rope + d_v);
  }
  bool operator==(const Model&) const = default;
};
BOOST_DESCRIBE_STRUCT(Model, (),
                      (name, title, source, attention, heads, kv_heads, layers, decoder_layers,
                       mtp_layers, hidden, q_lora_rank, d_latent, d_rope, d_nope, d_v, index_topk,
                       index_heads, index_dim, index_pool, indexer_layers, output_gate, notes))

/// Head-parallel sizes that split the model without padding, ascending.  MLA: the divisors of its
/// heads (DeepSeek-V3: 1, 2, 4 ... 128; GLM-4.7-Flash: 1, 2, 4, 5, 10, 20).  Per-head attention:
/// those of them that also split the KV heads, or share each KV head out to whole ranks.
std::vector<int> legal_tp_sizes(const Model& model);

/// "1, 2, 4, 8": the legal sizes as text for people.
std::string legal_tp_text(const Model& model);

/// A model by its built-in name ("deepseek-v3": configs/models/deepseek-v3.json), or from a path
/// to a Hugging Face config.json or to a folder that has one.
/// Fails: config (unknown name, with the nearest and all there are; or what is wrong in the file,
/// with its line; no such file), io (no built-in models).
Result<Model> read_model(const std::string& name_or_path);

/// Built-in names, sorted.  Fails: io (no configs folder; says where it was looked for).
Result<std::vector<std::string>> model_names();

}  // namespace headsplit::tp
