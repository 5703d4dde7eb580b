#include "tp/group/nccl_api.h"

namespace headsplit::tp {
namespace {

Result<NcclApi> opened() {
  const auto library = TRY(DynamicLibrary::open({"libnccl.so.2", "libnccl.so"}));
  NcclApi api;
  TRY(library.bind("ncclGetErrorString", api.error_text));
  TRY(library.bind("ncclGetUniqueId", api.unique_id));
  TRY(library.bind("ncclCommInitRank", api.init_rank));
  TRY(library.bind("ncclCommSplit", api.split));
  TRY(library.bind("ncclCommUserRank", api.rank_of));
  TRY(library.bind("ncclCommCount", api.count));
  TRY(library.bind("ncclCommAbort", api.abort));
  TRY(library.bind("ncclAllReduce", api.all_reduce));
  TRY(library.bind("ncclAllGather", api.all_gather));
  TRY(library.bind("ncclReduceScatter", api.reduce_scatter));
  TRY(library.bind("ncclSend", api.send));
  TRY(library.bind("ncclRecv", api.receive));
  TRY(library.bind("ncclGroupStart", api.group_start));
  TRY(library.bind("ncclGroupEnd", api.group_end));
  return api;
}

}  // namespace

Result<const NcclApi*> NcclApi::get() {
  static const Result<NcclApi> api = opened();
  if (api) return &api.value();
  return fail(ErrorKind::config, "ranks on GPUs need NCCL 2.18 or later: ", api.error().message);
}

Result<void> NcclApi::check(ncclResult_t code, const char* doing) const {
  if (code == ncclSuccess) return {};
  return fail(ErrorKind::nccl, doing, ": ", error_text(code));
}

}  // namespace headsplit::tp
