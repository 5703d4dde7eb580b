#include "tp/group/group.h"

#include <algorithm>
#include <cstring>

#include "core/check.h"
#include "kernels/bf16.h"
#include "tp/shard.h"

namespace headsplit::tp {
namespace {

using std::size_t;

std::span<const std::byte> const_bytes(const void* data, std::int64_t offset, std::int64_t count) {
  return {static_cast<const std::byte*>(data) + offset, size_t(count)};
}

std::span<std::byte> bytes_of(void* data, std::int64_t offset, std::int64_t count) {
  return {static_cast<std::byte*>(data) + offset, size_t(count)};
}

}  // namespace

MeshGroup::MeshGroup(Mesh& mesh, std::vector<int> members)
    : mesh_(mesh), members_(std::move(members)) {
  const auto own = std::find(members_.begin(), members_.end(), mesh.rank());
  CHECK(own != members_.end());
  rank_ = static_cast<int>(own - members_.begin());
}

Result<void> MeshGroup::all_gather(const void* in, void* out, std::int64_t bytes) {
  std::vector<Outgoing> outgoing;
  std::vector<Incoming> incoming;
  for (int other = 0; other < size(); ++other) {
    if (other == rank_) continue;
    outgoing.push_back({members_[size_t(other)], const_bytes(in, 0, bytes)});
    incoming.push_back({members_[size_t(other)], bytes_of(out, other * bytes, bytes)});
  }
  std::memcpy(static_cast<std::byte*>(out) + rank_ * bytes, in, size_t(bytes));
  return mesh_.exchange(outgoing, incoming);
}

Result<void> MeshGroup::all_to_all(const void* in, void* out, std::int64_t bytes) {
  std::vector<Outgoing> outgoing;
  std::vector<Incoming> incoming;
  for (int other = 0; other < size(); ++other) {
    if (other == rank_) continue;
    outgoing.push_back({members_[size_t(other)], const_bytes(in, other * bytes, bytes)});
    incoming.push_back({members_[size_t(other)], bytes_of(out, other * bytes, bytes)});
  }
  std::memcpy(static_cast<std::byte*>(out) + rank_ * bytes,
              static_cast<const std::byte*>(in) + rank_ * bytes, size_t(bytes));
  return mesh_.exchange(outgoing, incoming);
}

Result<void> MeshGroup::reduce(const std::vector<std::span<const std::uint16_t>>& in,
                               std::span<std::uint16_t> out) {
  received_.resize(out.size() * size_t(size()));
  std::vector<Outgoing> outgoing;
  std::vector<Incoming> incoming;
  for (int other = 0; other < size(); ++other) {
    const std::span<std::uint16_t> part(received_.data() + size_t(other) * out.size(), out.size());
    if (other == rank_) {
      std::copy(in[size_t(other)].begin(), in[size_t(other)].end(), part.begin());
      continue;
    }
    outgoing.push_back({members_[size_t(other)], std::as_bytes(in[size_t(other)])});
    incoming.push_back({members_[size_t(other)], std::as_writable_bytes(part)});
  }
  TRY(mesh_.exchange(outgoing, incoming));
  // Rank by rank over whole parts: loops that become vectors.
  sums_.assign(out.size(), 0.0f);
  for (int other = 0; other < size(); ++other) {
    const std::uint16_t* part = received_.data() + size_t(other) * out.size();
    for (size_t i = 0; i < out.size(); ++i) sums_[i] += kernels::bf16_value(part[i]);
  }
  std::transform(sums_.begin(), sums_.end(), out.begin(),
                 [](float sum) { return kernels::bf16_bits(sum); });
  return {};
}

Result<void> MeshGroup::reduce_scatter(const std::uint16_t* in, std::uint16_t* out,
                                       std::int64_t count) {
  std::vector<std::span<const std::uint16_t>> parts;
  for (int other = 0; other < size(); ++other) parts.emplace_back(in + other * count, count);
  return reduce(parts, {out, size_t(count)});
}

/// A reduce-scatter of shares that differ by one at most, and the sums sent to all.
Result<void> MeshGroup::all_reduce(const std::uint16_t* in, std::uint16_t* out,
                                   std::int64_t count) {
  const auto begin = [&](int of) { return share_begin(count, size(), of); };
  const auto length = [&](int of) { return size_t(begin(of + 1) - begin(of)); };
  std::vector<std::span<const std::uint16_t>> parts;
  for (int other = 0; other < size(); ++other) parts.emplace_back(in + begin(other), length(other));
  const std::span<std::uint16_t> own(out + begin(rank_), length(rank_));
  TRY(reduce(parts, own));
  std::vector<Outgoing> outgoing;
  std::vector<Incoming> incoming;
  for (int other = 0; other < size(); ++other) {
    if (other == rank_) continue;
    const std::span<std::uint16_t> theirs(out + begin(other), length(other));
    outgoing.push_back({members_[size_t(other)], std::as_bytes(own)});
    incoming.push_back({members_[size_t(other)], std::as_writable_bytes(theirs)});
  }
  return mesh_.exchange(outgoing, incoming);
}

Result<void> MeshGroup::barrier() {
  TRY(values(0));
  return {};
}

Result<void> MeshGroup::broadcast(std::span<std::byte> bytes, int root) {
  std::vector<Outgoing> outgoing;
  std::vector<Incoming> incoming;
  if (rank_ != root) {
    incoming.push_back({members_[size_t(root)], bytes});
  } else {
    for (int other = 0; other < size(); ++other) {
      if (other != root) outgoing.push_back({members_[size_t(other)], bytes});
    }
  }
  return mesh_.exchange(outgoing, incoming);
}

Result<std::vector<double>> MeshGroup::values(double own) {
  std::vector<double> all(members_.size());
  TRY(all_gather(&own, all.data(), sizeof own));
  return all;
}

Result<std::vector<double>> MeshGroup::largest(const std::vector<double>& own) {
  std::vector<double> all(own.size() * members_.size());
  TRY(all_gather(own.data(), all.data(), std::int64_t(own.size() * sizeof(double))));
  std::vector<double> result = own;
  for (size_t i = 0; i < all.size(); ++i) {
    double& value = result[i % own.size()];
    value = std::max(value, all[i]);
  }
  return result;
}

std::vector<int> context_members(const Layout& layout, int rank) {
  const RankPlace place = rank_place(layout, rank);
  std::vector<int> members;
  for (int other = 0; other < layout.ranks(); ++other) {
    const RankPlace theirs = rank_place(layout, other);
    if (theirs.tp_index == place.tp_index && theirs.dp_index == place.dp_index) {
      members.push_back(other);
    }
  }
  return members;
}

std::vector<int> request_members(const Layout& layout, int rank) {
  const RankPlace place = rank_place(layout, rank);
  std::vector<int> members;
  for (int other = 0; other < layout.ranks(); ++other) {
    if (rank_place(layout, other).dp_index == place.dp_index) members.push_back(other);
  }
  return members;
}

}  // namespace headsplit::tp
