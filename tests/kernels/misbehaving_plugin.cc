// A plug-in that does one thing wrong, by definition: compiled once for each.
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <stdexcept>

#include "include/headsplit_kernel.h"

#ifdef NO_SYMBOL

extern "C" int headsplit_kernel_is_not_here() { return 0; }

#else

namespace {

struct State {
  headsplit_problem problem;
};

int supports(const headsplit_shape* shape, char* why, size_t why_bytes) {
#ifdef REFUSES
  std::snprintf(why, why_bytes, "takes no %d local heads", shape->local_heads);
  return 1;
#else
  return shape->struct_bytes == sizeof(headsplit_shape) && why != nullptr && why_bytes > 0 ? 0 : 1;
#endif
}

int prepare(const headsplit_problem* problem, void** state, char*, size_t) {
#ifdef FAILS_TO_PREPARE
  (void)problem;
  (void)state;
  return 7;
#else
  *state = new State{*problem};
  return 0;
#endif
}

/// Says that all went well, and writes numbers that look like results.
int launch(void* state, void*, char*, size_t) {
  const headsplit_problem& problem = static_cast<State*>(state)->problem;
  const std::int64_t rows = std::int64_t{1} * problem.shape.batch * problem.shape.query_tokens *
                            problem.shape.local_heads;
#if defined(CRASHES)
  std::raise(SIGSEGV);
#elif defined(THROWS)
  throw std::runtime_error("out of patience");
#endif
#ifndef WRITES_NOTHING
  auto* output = static_cast<float*>(problem.output);
  for (std::int64_t i = 0; i < rows * problem.shape.d_latent; ++i) output[i] = 0.01f;
  for (std::int64_t row = 0; row < rows; ++row) problem.lse[row] = 5.0f;
#else
  (void)rows;
#endif
  return 0;
}

int work(void*, headsplit_work* work) {
  work->flops = 1;
  return 0;
}

void destroy(void* state) { delete static_cast<State*>(state); }

}  // namespace

extern "C" const headsplit_kernel* headsplit_kernel_describe() {
  static headsplit_kernel kernel = {
      .abi_version = HEADSPLIT_KERNEL_ABI,
      .struct_bytes = sizeof(headsplit_kernel),
      .name = "misbehaving",
      .summary = "for tests",
      .operation = "mla_dense",
      .backend = HEADSPLIT_CPU,
      .output = HEADSPLIT_OUTPUT_F32,
      .supports = supports,
      .prepare = prepare,
      .launch = launch,
      .work = nullptr,
      .destroy = destroy,
  };
  (void)work;
#if defined(WRONG_ABI)
  kernel.abi_version = 99;
#elif defined(NO_LAUNCH)
  kernel.launch = nullptr;
#elif defined(WRONG_WORK)
  kernel.work = work;
#elif defined(WRONG_OPERATION)
  kernel.operation = "matmul";
#endif
  return &kernel;
}

#endif
