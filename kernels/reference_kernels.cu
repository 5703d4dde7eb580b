// The reference of attention in fp64, straight from the equation, for a few output rows:
//   s_j = scale x sum_d q_d k_jd,  lse = log sum_j exp(s_j),  out_d = sum_j exp(s_j - lse) v_jd;
// the values of mla_dense are the first dimensions of its keys.
// Nothing is shared with the kernels under test, not even their inputs: each value of query and
// cache is made again from the seed, where it is needed.  Made to be read, not to be fast.
#include <cmath>

#include "kernels/mla_dense/stored_values.h"
#include "kernels/per_head/stored_values.h"
#include "kernels/reference_kernels.h"

namespace headsplit::kernels {
namespace {

constexpr int kThreads = 128;

/// Which token of which row.
struct TokenPlace {
  std::int64_t page;
  int slot;
  int kv_head;
};

__device__ TokenPlace place_of(const ReferenceArguments& a, const ReferenceTask& task, int token) {
  return {a.page_table[task.first_page + token / a.page_tokens], token % a.page_tokens,
          task.kv_head};
}

__device__ double cache_value_of(const ReferenceArguments& a, const TokenPlace& place, int dim) {
  return stored_cache_value(a.seed, {.slot = place.page * a.page_tokens + place.slot,
                                     .dim = dim,
                                     .d_latent = a.output_width,
                                     .d_qk = a.query_width,
                                     .eight_bits = a.eight_bits,
                                     .one_scale = a.one_scale});
}

__device__ std::int64_t head_index(const ReferenceArguments& a, const TokenPlace& place, int dim,
                                   int width) {
  return per_head_index({.page = place.page,
                         .kv_head = place.kv_head,
                         .slot = place.slot,
                         .dim = dim,
                         .kv_heads = a.kv_heads,
                         .page_tokens = a.page_tokens,
                         .width = width});
}

__device__ double key_of(const ReferenceArguments& a, const TokenPlace& place, int dim) {
  if (a.kv_heads == 0) return cache_value_of(a, place, dim);
  return stored_key(a.seed, head_index(a, place, dim, a.query_width));
}

__device__ double value_of(const ReferenceArguments& a, const TokenPlace& place, int dim) {
  if (a.kv_heads == 0) return cache_value_of(a, place, dim);
  return stored_value(a.seed, head_index(a, place, dim, a.output_width));
}

/// A thread has one token.
__global__ void score_kernel(const ReferenceArguments a) {
  const ReferenceTask task = a.tasks[blockIdx.y];
  const int token = static_cast<int>(blockIdx.x) * kThreads + static_cast<int>(threadIdx.x);
  if (token >= task.tokens) return;
  const TokenPlace place = place_of(a, task, token);
  double dot = 0;
  for (int d = 0; d < a.query_width; ++d) {
    const double q = stored_query_value(a.seed, task.row * a.query_width + d);
    dot += q * key_of(a, place, d);
  }
  a.scores[std::int64_t{blockIdx.y} * a.tokens_max + token] = a.softmax_scale * dot;
}

/// Of one value a thread: `combine` of all of them, known to all threads.
template <class Combine>
__device__ double over_block(double value, const Combine& combine) {
  __shared__ double values[kThreads];
  values[threadIdx.x] = value;
  __syncthreads();
  for (int half = kThreads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      values[threadIdx.x] = combine(values[threadIdx.x], values[threadIdx.x + half]);
    }
    __syncthreads();
  }
  const double result = values[0];
  __syncthreads();
  return result;
}

/// A block has one row; one that attends to nothing gets -infinity.
__global__ void lse_kernel(const ReferenceArguments a) {
  const int tokens = a.tasks[blockIdx.x].tokens;
  const double* scores = a.scores + std::int64_t{blockIdx.x} * a.tokens_max;
  double largest = -INFINITY;
  for (int j = threadIdx.x; j < tokens; j += kThreads) largest = fmax(largest, scores[j]);
  largest = over_block(largest, [](double x, double y) { return fmax(x, y); });
  double sum = 0;
  for (int j = threadIdx.x; j < tokens; j += kThreads) sum += exp(scores[j] - largest);
  sum = over_block(sum, [](double x, double y) { return x + y; });
  if (threadIdx.x == 0) a.lse[blockIdx.x] = tokens > 0 ? largest + log(sum) : -INFINITY;
}

/// A block has one chunk of tokens of one row, its threads have dimensions.
__global__ void part_kernel(const ReferenceArguments a) {
  const ReferenceTask task = a.tasks[blockIdx.y];
  const int begin = static_cast<int>(blockIdx.x) * ReferenceArguments::kChunkTokens;
  const int end = min(begin + ReferenceArguments::kChunkTokens, task.tokens);
  const double* scores = a.scores + std::int64_t{blockIdx.y} * a.tokens_max;
  double* part = a.parts + (std::int64_t{blockIdx.y} * gridDim.x + blockIdx.x) * a.output_width;
  for (int d = threadIdx.x; d < a.output_width; d += kThreads) {
    double sum = 0;
    for (int j = begin; j < end; ++j) {
      sum += exp(scores[j] - a.lse[blockIdx.y]) * value_of(a, place_of(a, task, j), d);
    }
    part[d] = sum;
  }
}

/// A block has one row.
__global__ void sum_kernel(const ReferenceArguments a, int chunks) {
  const double* part = a.parts + std::int64_t{blockIdx.x} * chunks * a.output_width;
  for (int d = threadIdx.x; d < a.output_width; d += kThreads) {
    double sum = 0;
    for (int chunk = 0; chunk < chunks; ++chunk)
      sum += part[std::int64_t{chunk} * a.output_width + d];
    a.values[std::int64_t{blockIdx.x} * a.output_width + d] = sum;
  }
}

}  // namespace

cudaError_t enqueue_reference(const ReferenceArguments& arguments, cudaStream_t stream) {
  const auto tasks = static_cast<unsigned>(arguments.task_count);
  const auto tokens = static_cast<unsigned>(arguments.tokens_max);
  const auto chunks = static_cast<unsigned>(arguments.chunks());
  score_kernel<<<dim3((tokens + kThreads - 1) / kThreads, tasks), kThreads, 0, stream>>>(arguments);
  lse_kernel<<<tasks, kThreads, 0, stream>>>(arguments);
  part_kernel<<<dim3(chunks, tasks), kThreads, 0, stream>>>(arguments);
  sum_kernel<<<tasks, kThreads, 0, stream>>>(arguments, static_cast<int>(chunks));
  return cudaGetLastError();
}

}  // namespace headsplit::kernels
