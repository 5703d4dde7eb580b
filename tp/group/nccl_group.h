#pragma once

#include <cuda_runtime_api.h>

#include <memory>
#include <string>

#include "tp/group/group.h"
#include "tp/group/nccl_api.h"

namespace headsplit::tp {

/// Ranks on GPUs, by an NCCL communicator.  Calls enqueue on the stream set last.
/// The communicator is aborted with the object: a rank never waits for others to take leave.
class NcclGroup final : public Group {
 public:
  static constexpr std::size_t kIdDigits = 2 * sizeof(ncclUniqueId::internal);
  /// The id of a communicator to come, hexadecimal: made by rank 0 and told to all.
  static Result<std::string> new_id();
  /// Returns when all ranks have called it.  Fails: config, nccl.
  static Result<std::unique_ptr<NcclGroup>> join(const std::string& id, int rank, int size,
                                                 cudaStream_t stream);
  /// The ranks of this group that give the same colour.  All ranks call it.
  Result<std::unique_ptr<NcclGroup>> split(int colour);

  ~NcclGroup() override;

  void set_stream(cudaStream_t stream) { stream_ = stream; }

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  Result<void> all_gather(const void* in, void* out, std::int64_t bytes) override;
  Result<void> all_to_all(const void* in, void* out, std::int64_t bytes) override;
  Result<void> reduce_scatter(const std::uint16_t* in, std::uint16_t* out,
                              std::int64_t count) override;
  Result<void> all_reduce(const std::uint16_t* in, std::uint16_t* out, std::int64_t count) override;
  Result<void> wait() override;

 private:
  NcclGroup(const NcclApi& api, ncclComm_t communicator, int rank, int size, cudaStream_t stream)
      : api_(api), communicator_(communicator), rank_(rank), size_(size), stream_(stream) {}

  const NcclApi& api_;
  ncclComm_t communicator_;
  int rank_ = 0;
  int size_ = 0;
  cudaStream_t stream_;
};

/// The groups of one rank of a layout; a group of one is null.
struct NcclGroups {
  NcclGroup* all = nullptr;
  NcclGroup* context = nullptr;
  NcclGroup* requests = nullptr;
};

}  // namespace headsplit::tp
