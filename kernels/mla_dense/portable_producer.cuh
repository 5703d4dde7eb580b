#pragma once

#include "kernels/mla_dense/portable_copy.cuh"

namespace headsplit::kernels::dense {

/// One warp that does nothing but load the cache tiles of a CTA's items into the ring of stages.
template <TileShape kShape>
struct Producer {
  const SplitArguments& arguments;
  SharedMemory<kShape> memory;
  TileCopy<kShape> copy;

  __device__ void run(const CtaItems& items) {
    RingPosition ring{.stage = 0, .parity = 1};  // the first round finds every stage empty
    for (int i = items.begin; i < items.end; ++i) {
      const WorkItem item = items.get(i);
      const int request = item.request;
      const int token_end = item.token_end;
      int token = item.token_begin;
      if (token < token_end) copy.find(arguments, request, token, token_end);
      while (token < token_end) {
        const TileCopy<kShape> found = copy;
        token += kShape.tokens;
        copy.find(arguments, request, token, token_end);
        wait(memory.empty(ring.stage), ring.parity);
        found.start(arguments, memory.stage(ring.stage));
        ptx::cp_async_mbarrier_arrive(memory.full(ring.stage));
        ring.advance(arguments.stages);
      }
    }
    ptx::cp_async_wait_all();
  }
};

}  // namespace headsplit::kernels::dense
