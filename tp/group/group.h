#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/layout.h"
#include "core/result.h"
#include "tp/group/mesh.h"

namespace headsplit::tp {

/// Ranks that communicate, numbered from 0 within the group.  Buffers lie where the ranks' kernels
/// compute: in host memory, or on the GPU, where calls enqueue on the group's stream and return.
/// All ranks of a group make the same calls in the same order.  In and out must not overlap.
/// Sums are of bf16, rounded once a call on the host.
class Group {
 public:
  virtual ~Group() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;

  /// out: [size, bytes], the inputs of all ranks.
  virtual Result<void> all_gather(const void* in, void* out, std::int64_t bytes) = 0;
  /// in: [size, bytes], a part for each rank; out: [size, bytes], a part from each.
  virtual Result<void> all_to_all(const void* in, void* out, std::int64_t bytes) = 0;
  /// in: [size, count] bf16; out: [count], this rank's part of the sum over all ranks.
  virtual Result<void> reduce_scatter(const std::uint16_t* in, std::uint16_t* out,
                                      std::int64_t count) = 0;
  /// out: [count] bf16, the sum over all ranks.
  virtual Result<void> all_reduce(const std::uint16_t* in, std::uint16_t* out,
                                  std::int64_t count) = 0;
  /// Waits until what was enqueued has happened.
  virtual Result<void> wait() = 0;
};

/// A group of some ranks of a mesh, in host memory.  Every transfer is one exchange of all with
/// all, so a call takes one step, and an all-reduce two.
class MeshGroup final : public Group {
 public:
  /// members: ranks of `mesh`, this one among them, the same list on each.
  MeshGroup(Mesh& mesh, std::vector<int> members);

  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(members_.size()); }

  Result<void> all_gather(const void* in, void* out, std::int64_t bytes) override;
  Result<void> all_to_all(const void* in, void* out, std::int64_t bytes) override;
  Result<void> reduce_scatter(const std::uint16_t* in, std::uint16_t* out,
                              std::int64_t count) override;
  Result<void> all_reduce(const std::uint16_t* in, std::uint16_t* out, std::int64_t count) override;
  Result<void> wait() override { return {}; }

  /// Returns when all ranks have come here.
  Result<void> barrier();
  /// `bytes` of rank `root`, on all ranks.
  Result<void> broadcast(std::span<std::byte> bytes, int root);
  /// One number of each rank, by rank.
  Result<std::vector<double>> values(double own);
  /// The largest of each element over all ranks.  values: as many on each rank.
  Result<std::vector<double>> largest(const std::vector<double>& own);

 private:
  /// in: for each rank what it sums up; out: the sum of what the others have for this rank.
  Result<void> reduce(const std::vector<std::span<const std::uint16_t>>& in,
                      std::span<std::uint16_t> out);

  Mesh& mesh_;
  std::vector<int> members_;
  int rank_ = 0;
  std::vector<std::uint16_t> received_;  ///< of a reduction
  std::vector<float> sums_;
};

/// Members of the groups that a layout's rank belongs to (rank_place): the ranks that share its
/// requests and heads, and split its context; and those that share its requests.
std::vector<int> context_members(const Layout& layout, int rank);
std::vector<int> request_members(const Layout& layout, int rank);

}  // namespace headsplit::tp
