#pragma once

#include <cstdint>
#include <string>

#include "core/json.h"
#include "core/layout.h"

namespace headsplit {

/// Storage type of the KV cache: bf16 (2 bytes a value); fp8, the 656-byte token (512 e4m3, 4 fp32
/// scales, 64 bf16 RoPE values); or fp8_tensor, the plain 576-byte token (512 e4m3 of the latent,
/// 64 of the RoPE key), whose values all have one scale, which stands beside the cache.
enum class KvDtype { bf16, fp8, fp8_tensor };
BOOST_DESCRIBE_ENUM(KvDtype, bf16, fp8, fp8_tensor)

/// State of the last-level cache when a launch is timed: evicted before each launch, or left as
/// the previous launch left it.
enum class L2 { cold, warm };
BOOST_DESCRIBE_ENUM(L2, cold, warm)

/// emulated: one agent plays rank 0's problem.  real: the whole gang runs, with collectives.
enum class Ranks { emulated, real };
BOOST_DESCRIBE_ENUM(Ranks, emulated, real)

/// KV lengths in a batch: all equal to `context`, or spread from 0 to `context` by the seed.
enum class Lengths { equal, ragged };
BOOST_DESCRIBE_ENUM(Lengths, equal, ragged)

/// One experiment of a sweep, before any rank is chosen.  `context` is the KV length of a request
/// in tokens, its query tokens included; `batch` counts requests over the whole layout.
struct Point {
  std::string model = "deepseek-v3";
  std::string kernel = "mla_dense";
  Layout layout;
  Ranks ranks = Ranks::emulated;
  int batch = 1;
  int query_tokens = 1;
  std::int64_t context = 4096;
  KvDtype kv_dtype = KvDtype::bf16;
  Lengths lengths = Lengths::equal;
  L2 l2 = L2::cold;
  int repeat = 0;
  std::int64_t message_bytes = 0;  ///< of a collective kernel; 0 for all others
  /// Parts that each request's context is cut into; 0: as the kernel finds fastest for the batch.
  /// Fixed, a request gives the same bits whatever else is in the batch.
  int fixed_splits = 0;
  /// Tokens that each query token attends to, of sparse kernels; 0: as many as the model's
  /// index_topk.
  int top_k = 0;

  bool operator==(const Point&) const = default;
};
BOOST_DESCRIBE_STRUCT(Point, (),
                      (model, kernel, layout, ranks, batch, query_tokens, context, kv_dtype,
                       lengths, l2, repeat, message_bytes, fixed_splits, top_k))
HEADSPLIT_JSON_ELSEWHERE(Point)

/// Stable id from the point's content (16 hex digits of a SHA-1): equal points, equal ids.
std::string point_id(const Point& point);

/// A short text for people: "mla_dense tp4 B=64 T=1 L=8192 bf16"; " splits=4" and " k=1024" follow
/// where the sweep says so.
std::string point_label(const Point& point);

/// 16 hex digits that stand for a text (SHA-1, truncated); also names a plan by its content.
std::string content_id(const std::string& text);

}  // namespace headsplit
