/* headsplit_kernel.h: bench a kernel of your own under headsplit's protocol.
 *
 * Build a shared library that exports headsplit_kernel_describe() and name it in a sweep:
 *     kernels: [mla_dense, plugin:libmine.so]
 * headsplit makes the inputs, poisons the outputs before verifying, checks them against its fp64
 * reference, and times and counts launches as it does its own.  docs/plugins.md walks through an
 * example.  Plain C; every struct says its own size, so that later versions can add to its end.
 *
 * Functions return 0 for success.  Anything else is a failure, with a text in `why` (at most
 * `why_bytes` bytes, the final 0 included), which ends up in the row.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A library built against another version is refused. */
#define HEADSPLIT_KERNEL_ABI 1u

enum headsplit_backend { HEADSPLIT_CPU = 0, HEADSPLIT_CUDA = 1 };

/* bf16: rows of d_qk values.  FP8: rows of d_latent e4m3 values, one fp32 scale for each 128 of
 * them, and d_rope bf16 values (656 bytes for DeepSeek-V3); a value is e4m3 x scale.  FP8_TENSOR:
 * rows of d_qk e4m3 values, each times the problem's cache_scale. */
enum headsplit_cache {
  HEADSPLIT_CACHE_BF16 = 0,
  HEADSPLIT_CACHE_FP8 = 1,
  HEADSPLIT_CACHE_FP8_TENSOR = 2
};

enum headsplit_output { HEADSPLIT_OUTPUT_F32 = 0, HEADSPLIT_OUTPUT_BF16 = 1 };

/* Sizes of a problem: absorbed MLA decode of one layer on one rank. */
typedef struct headsplit_shape {
  uint32_t struct_bytes;
  int32_t cache; /* enum headsplit_cache */
  int32_t local_heads;
  int32_t batch;
  int32_t query_tokens;
  int32_t d_latent; /* width of the latent and of an output row */
  int32_t d_rope;   /* a cache row is d_qk = d_latent + d_rope values */
  int32_t page_tokens;
  int64_t context; /* most KV tokens of a request, its query tokens included */
} headsplit_shape;

/* A problem made concrete.  Pointers without "host" are device memory for a CUDA kernel; all stay
 * valid and unchanged until destroy().  Query token t of a request with KV length n attends to the
 * first n - (query_tokens - 1 - t) tokens; a row that attends to nothing gets output 0 and LSE
 * minus infinity.  Cache slots that no request uses hold NaN, page-table entries past a request's
 * last page are -1. */
typedef struct headsplit_problem {
  uint32_t struct_bytes;
  int32_t threads; /* CPU: how many to use */
  headsplit_shape shape;
  float softmax_scale;
  int32_t pages_per_request;
  int32_t page_count;
  int32_t reserved;
  const uint16_t* query;          /* bf16 [batch, query_tokens, local_heads, d_qk] */
  const void* cache;              /* [page_count, page_tokens, one row] */
  const int32_t* page_table;      /* [batch, pages_per_request] */
  const int32_t* lengths;         /* [batch], KV tokens, query tokens included */
  const int32_t* host_page_table; /* the same in host memory, to plan with */
  const int32_t* host_lengths;
  void* output;      /* [batch, query_tokens, local_heads, d_latent], output type as described */
  float* lse;        /* [batch, query_tokens, local_heads], natural logarithm */
  float cache_scale; /* FP8_TENSOR: of all values of the cache; else 1 */
} headsplit_problem;

/* What a launch does, as the kernel sees it. */
typedef struct headsplit_work {
  uint32_t struct_bytes;
  int32_t padded_rows; /* query rows of a request computed for nothing */
  double flops;        /* useful: 2 batch query_tokens local_heads sum(lengths) (d_qk + d_latent) */
  double bytes;        /* least: every used cache row, query and output once; 0 = not told */
} headsplit_work;

typedef struct headsplit_kernel {
  uint32_t abi_version; /* HEADSPLIT_KERNEL_ABI */
  uint32_t struct_bytes;
  const char* name;
  const char* summary;   /* one line for people */
  const char* operation; /* "mla_dense": absorbed MLA decode, the one there is */
  int32_t backend;       /* enum headsplit_backend */
  int32_t output;        /* enum headsplit_output */

  /* Whether such problems can run; a failure skips the point with the text as its reason. */
  int (*supports)(const headsplit_shape* shape, char* why, size_t why_bytes);
  /* Allocate and plan; `*state` is handed to the calls below.  CUDA: on the current device. */
  int (*prepare)(const headsplit_problem* problem, void** state, char* why, size_t why_bytes);
  /* One launch.  CPU: returns when done.  CUDA: enqueues on `stream` (a cudaStream_t), does not
   * wait, allocates nothing, and can be captured into a graph. */
  int (*launch)(void* state, void* stream, char* why, size_t why_bytes);
  /* Optional, may be NULL.  FLOPs that contradict headsplit's own count fail the point. */
  int (*work)(void* state, headsplit_work* work);
  void (*destroy)(void* state);
} headsplit_kernel;

/* The one symbol that is looked up.  The answer stays valid while the library is loaded. */
const headsplit_kernel* headsplit_kernel_describe(void);

#ifdef __cplusplus
}
#endif
