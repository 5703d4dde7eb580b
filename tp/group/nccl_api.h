#pragma once

#include <nccl.h>

#include "core/dynamic_library.h"

namespace headsplit::tp {

/// The functions of NCCL that we use, found at run time: programs start where it is not installed.
struct NcclApi {
  decltype(&ncclGetErrorString) error_text = nullptr;
  decltype(&ncclGetUniqueId) unique_id = nullptr;
  decltype(&ncclCommInitRank) init_rank = nullptr;
  decltype(&ncclCommSplit) split = nullptr;
  decltype(&ncclCommUserRank) rank_of = nullptr;
  decltype(&ncclCommCount) count = nullptr;
  decltype(&ncclCommAbort) abort = nullptr;
  decltype(&ncclAllReduce) all_reduce = nullptr;
  decltype(&ncclAllGather) all_gather = nullptr;
  decltype(&ncclReduceScatter) reduce_scatter = nullptr;
  decltype(&ncclSend) send = nullptr;
  decltype(&ncclRecv) receive = nullptr;
  decltype(&ncclGroupStart) group_start = nullptr;
  decltype(&ncclGroupEnd) group_end = nullptr;

  /// NCCL of this process, opened once.  Fails: config (not installed, or too old: names what is
  /// missing).
  static Result<const NcclApi*> get();

  /// Fails: nccl, with what was done and NCCL's own words.
  Result<void> check(ncclResult_t code, const char* doing) const;
};

}  // namespace headsplit::tp
