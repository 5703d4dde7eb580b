#include "agent/rank_device.h"
#include "agent/rank_steps_cuda.h"
#include "tp/group/nccl_communicators.h"

/// A rank on a GPU: NCCL's communicators and what is done with them.
namespace headsplit::agent {
namespace {

class CudaJoinedRank final : public JoinedRank {
 public:
  CudaJoinedRank(Device& device, const tp::NcclGroups& groups)
      : device_(device), stream_(static_cast<cudaStream_t>(device.stream())), groups_(groups) {}

  Result<tp::RankAttention*> attention(const kernels::BoundKernel& kernel,
                                       const kernels::Problem& shard, const Lease& lease) override {
    attention_ = TRY(tp::cuda_rank_attention(kernel, shard, groups_, lease.gang.merge,
                                             lease.gang.hidden, stream_));
    return attention_.get();
  }

  Result<std::unique_ptr<RankSteps>> steps(kernels::BoundKernel& kernel) override {
    return cuda_steps(device_, kernel, *attention_, *groups_.all);
  }

  Result<std::unique_ptr<RankSteps>> steps(const CollectiveMessage& message) override {
    return cuda_message_steps(message, *groups_.all, stream_);
  }

 private:
  Device& device_;
  cudaStream_t stream_;
  tp::NcclGroups groups_;
  std::unique_ptr<tp::CudaRankAttention> attention_;
};

class CudaRankDevice final : public RankDevice {
 public:
  explicit CudaRankDevice(Device& device) : device_(device) {}

  std::string transport() const override { return "nccl"; }
  std::string kept_ids(const GangSeat& seat) const override {
    return communicators_.kept_ids(seat.size, seat.rank);
  }

  Result<std::unique_ptr<JoinedRank>> join(tp::Mesh& mesh, const std::vector<std::string>& kept,
                                           const Lease& lease) override {
    const auto stream = static_cast<cudaStream_t>(device_.stream());
    const auto groups = TRY(communicators_.join(mesh, kept, lease.point.layout, stream));
    return std::make_unique<CudaJoinedRank>(device_, groups);
  }

 private:
  Device& device_;
  tp::NcclCommunicators communicators_;
};

}  // namespace

Result<std::unique_ptr<RankDevice>> cuda_rank_device(Device& device) {
  TRY(tp::NcclApi::get());
  return std::make_unique<CudaRankDevice>(device);
}

}  // namespace headsplit::agent
