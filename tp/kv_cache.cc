#include "tp/kv_cache.h"

#include "tp/shard.h"
#include "tp/work.h"

namespace headsplit::tp {

double cache_bytes_per_token(const Model& model, KvDtype dtype) {
  if (model.is_mla()) {
    return latent_row_bytes(
        {.d_latent = model.d_latent, .d_rope = model.d_rope, .kv_dtype = dtype});
  }
  return model.cache_row_values() * (dtype == KvDtype::bf16 ? kBf16Bytes : 1.0);
}

std::vector<CacheSize> cache_sizes(const Model& model, std::int64_t context, int layers) {
  constexpr double kGib = 1024.0 * 1024 * 1024;
  std::vector<CacheSize> sizes;
  const auto add = [&](const std::string& attention, double values, double bytes) {
    const double per_token = bytes * layers;
    sizes.push_back(
        {attention, values, per_token, per_token * static_cast<double>(context) / kGib});
  };
  const auto per_head = [&](const std::string& name, int kv_heads) {
    const double values = 1.0 * kv_heads * (model.d_nope + model.d_v);
    add(str(name, " (", kv_heads, " KV)"), values, kBf16Bytes * values);
  };
  per_head("MHA", model.heads);
  per_head("GQA", kernel_kv_heads(model, "gqa_decode"));
  per_head("MQA", 1);
  if (!model.is_mla()) return sizes;
  add("MLA (latent alone)", model.d_latent, kBf16Bytes * model.d_latent);
  const double row = model.cache_row_values();
  add("MLA (latent + RoPE key)", row, cache_bytes_per_token(model, KvDtype::bf16));
  add("MLA (FP8 row with scales)", row, cache_bytes_per_token(model, KvDtype::fp8));
  add("MLA (FP8 row, one scale)", row, cache_bytes_per_token(model, KvDtype::fp8_tensor));
  return sizes;
}

}  // namespace headsplit::tp
