#include "tp/group/nccl_group.h"

#include <cstring>

#include "core/log.h"
#include "kernels/device/cuda_try.h"

namespace headsplit::tp {
namespace {

using std::size_t;

std::string hex_of(const ncclUniqueId& id) {
  std::string text;
  for (const char c : id.internal) {
    const auto byte = static_cast<unsigned char>(c);
    text += "0123456789abcdef"[byte / 16];
    text += "0123456789abcdef"[byte % 16];
  }
  return text;
}

Result<ncclUniqueId> id_from(const std::string& text) {
  constexpr std::size_t kIdDigits = NcclGroup::kIdDigits;
  ncclUniqueId id{};
  if (text.size() != kIdDigits) {
    return fail(ErrorKind::protocol, "an NCCL id has ", kIdDigits, " digits, not ", text.size());
  }
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  for (size_t i = 0; i < sizeof id.internal; ++i) {
    id.internal[i] = static_cast<char>(digit(text[2 * i]) * 16 + digit(text[2 * i + 1]));
  }
  return id;
}

}  // namespace

Result<std::string> NcclGroup::new_id() {
  const NcclApi* api = TRY(NcclApi::get());
  ncclUniqueId id{};
  TRY(api->check(api->unique_id(&id), "ncclGetUniqueId"));
  return hex_of(id);
}

Result<std::unique_ptr<NcclGroup>> NcclGroup::join(const std::string& id, int rank, int size,
                                                   cudaStream_t stream) {
  const NcclApi* api = TRY(NcclApi::get());
  ncclComm_t communicator = nullptr;
  const ncclUniqueId parsed = TRY(id_from(id));
  TRY(api->check(api->init_rank(&communicator, size, parsed, rank), "ncclCommInitRank"));
  return std::unique_ptr<NcclGroup>(new NcclGroup(*api, communicator, rank, size, stream));
}

Result<std::unique_ptr<NcclGroup>> NcclGroup::split(int colour) {
  ncclComm_t part = nullptr;
  TRY(api_.check(api_.split(communicator_, colour, rank_, &part, nullptr), "ncclCommSplit"));
  int rank = 0;
  int size = 0;
  TRY(api_.check(api_.rank_of(part, &rank), "ncclCommUserRank"));
  TRY(api_.check(api_.count(part, &size), "ncclCommCount"));
  return std::unique_ptr<NcclGroup>(new NcclGroup(api_, part, rank, size, stream_));
}

NcclGroup::~NcclGroup() {
  if (const auto done = api_.check(api_.abort(communicator_), "ncclCommAbort"); !done) {
    log_line(LogLevel::warn, "gang", "nccl", log_field("reason", done.error().message));
  }
}

Result<void> NcclGroup::all_gather(const void* in, void* out, std::int64_t bytes) {
  return api_.check(api_.all_gather(in, out, size_t(bytes), ncclInt8, communicator_, stream_),
                    "ncclAllGather");
}

Result<void> NcclGroup::all_to_all(const void* in, void* out, std::int64_t bytes) {
  TRY(api_.check(api_.group_start(), "ncclGroupStart"));
  for (int other = 0; other < size_; ++other) {
    const char* from = static_cast<const char*>(in) + other * bytes;
    char* to = static_cast<char*>(out) + other * bytes;
    TRY(api_.check(api_.send(from, size_t(bytes), ncclInt8, other, communicator_, stream_),
                   "ncclSend"));
    TRY(api_.check(api_.receive(to, size_t(bytes), ncclInt8, other, communicator_, stream_),
                   "ncclRecv"));
  }
  return api_.check(api_.group_end(), "ncclGroupEnd");
}

Result<void> NcclGroup::reduce_scatter(const std::uint16_t* in, std::uint16_t* out,
                                       std::int64_t count) {
  return api_.check(
      api_.reduce_scatter(in, out, size_t(count), ncclBfloat16, ncclSum, communicator_, stream_),
      "ncclReduceScatter");
}

Result<void> NcclGroup::all_reduce(const std::uint16_t* in, std::uint16_t* out,
                                   std::int64_t count) {
  return api_.check(
      api_.all_reduce(in, out, size_t(count), ncclBfloat16, ncclSum, communicator_, stream_),
      "ncclAllReduce");
}

Result<void> NcclGroup::wait() {
  return kernels::cuda_result(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
}

}  // namespace headsplit::tp
