// A kernel plug-in for headsplit, from docs/plugins.md: absorbed MLA decode on one CPU thread,
// straight from the equation.  Slow, and short enough to start from.
//
//     g++ -O3 -shared -fPIC -I include examples/plugin/naive_mla.cc -o libnaive_mla.so
//     headsplit run sweep.yaml           with `kernels: [mla_dense, plugin:libnaive_mla.so]`
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <vector>

#include "headsplit_kernel.h"

namespace {

float from_bf16(std::uint16_t bits) {
  const std::uint32_t wide = std::uint32_t{bits} << 16;
  float value = 0;
  std::memcpy(&value, &wide, sizeof value);
  return value;
}

/// What prepare() keeps for the launches: the problem's own pointers, and room for scores.
struct State {
  headsplit_problem problem;
  std::vector<float> scores;

  int d_qk() const { return problem.shape.d_latent + problem.shape.d_rope; }

  const std::uint16_t* cached_token(int request, int token) const {
    const int page_tokens = problem.shape.page_tokens;
    const std::int32_t page =
        problem.page_table[std::int64_t{request} * problem.pages_per_request + token / page_tokens];
    const std::int64_t row = std::int64_t{page} * page_tokens + token % page_tokens;
    return static_cast<const std::uint16_t*>(problem.cache) + row * d_qk();
  }

  float score(const std::uint16_t* query, const std::uint16_t* key) const {
    float sum = 0;
    for (int d = 0; d < d_qk(); ++d) sum += from_bf16(query[d]) * from_bf16(key[d]);
    return sum * problem.softmax_scale;
  }

  /// Output and LSE of one row: (request, query token, head).
  void attend(int request, int query_token, std::int64_t row) {
    const headsplit_shape& shape = problem.shape;
    const std::uint16_t* query = problem.query + row * d_qk();
    float* output = static_cast<float*>(problem.output) + row * shape.d_latent;
    const int tokens =
        std::max(0, problem.lengths[request] - (shape.query_tokens - 1 - query_token));
    std::fill_n(output, shape.d_latent, 0.0f);
    problem.lse[row] = -std::numeric_limits<float>::infinity();
    if (tokens == 0) return;

    for (int t = 0; t < tokens; ++t) scores[t] = score(query, cached_token(request, t));
    const float largest = *std::max_element(scores.begin(), scores.begin() + tokens);
    float sum = 0;
    for (int t = 0; t < tokens; ++t) sum += std::exp(scores[t] - largest);
    problem.lse[row] = largest + std::log(sum);
    for (int t = 0; t < tokens; ++t) {
      const float weight = std::exp(scores[t] - problem.lse[row]);
      const std::uint16_t* value = cached_token(request, t);
      for (int d = 0; d < shape.d_latent; ++d) output[d] += weight * from_bf16(value[d]);
    }
  }
};

int supports(const headsplit_shape* shape, char* why, size_t why_bytes) {
  if (shape->cache == HEADSPLIT_CACHE_BF16) return 0;
  std::snprintf(why, why_bytes, "naive_mla reads bf16 caches only");
  return 1;
}

int prepare(const headsplit_problem* problem, void** state, char*, size_t) {
  *state =
      new State{*problem, std::vector<float>(static_cast<std::size_t>(problem->shape.context))};
  return 0;
}

int launch(void* state, void*, char*, size_t) {
  auto* self = static_cast<State*>(state);
  const headsplit_shape& shape = self->problem.shape;
  std::int64_t row = 0;
  for (int request = 0; request < shape.batch; ++request) {
    for (int query_token = 0; query_token < shape.query_tokens; ++query_token) {
      for (int head = 0; head < shape.local_heads; ++head) {
        self->attend(request, query_token, row++);
      }
    }
  }
  return 0;
}

int work(void* state, headsplit_work* work) {
  const auto* self = static_cast<State*>(state);
  const headsplit_shape& shape = self->problem.shape;
  double tokens = 0;
  for (int request = 0; request < shape.batch; ++request) {
    tokens += self->problem.host_lengths[request];
  }
  work->flops =
      2.0 * shape.query_tokens * shape.local_heads * tokens * (2.0 * shape.d_latent + shape.d_rope);
  return 0;
}

void destroy(void* state) { delete static_cast<State*>(state); }

}  // namespace

extern "C" const headsplit_kernel* headsplit_kernel_describe() {
  static const headsplit_kernel kernel = {
      .abi_version = HEADSPLIT_KERNEL_ABI,
      .struct_bytes = sizeof(headsplit_kernel),
      .name = "naive_mla",
      .summary = "absorbed MLA decode from the equation, one thread",
      .operation = "mla_dense",
      .backend = HEADSPLIT_CPU,
      .output = HEADSPLIT_OUTPUT_F32,
      .supports = supports,
      .prepare = prepare,
      .launch = launch,
      .work = work,
      .destroy = destroy,
  };
  return &kernel;
}
