#include "tp/group/mesh.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <thread>

#include "kernels/bf16.h"
#include "tp/group/group.h"

namespace headsplit::tp {
namespace {

using namespace std::chrono_literals;
using kernels::bf16_bits;
using kernels::bf16_value;

constexpr int kRanks = 5;

/// Runs `body(group)` on every rank of an in-process mesh; the first error, or nothing.
template <class Body>
std::string on_all(int ranks, const Body& body) {
  auto meshes = Mesh::in_process(ranks);
  std::vector<int> members;
  for (int rank = 0; rank < ranks; ++rank) members.push_back(rank);
  std::vector<std::string> errors(static_cast<std::size_t>(ranks));
  std::vector<std::jthread> threads;
  for (std::size_t rank = 0; rank < errors.size(); ++rank) {
    threads.emplace_back([&, rank] {
      MeshGroup group(meshes[rank], members);
      const Result<void> done = body(group);
      if (!done) errors[rank] = done.error().message;
    });
  }
  threads.clear();
  for (const std::string& error : errors) {
    if (!error.empty()) return error;
  }
  return "";
}

/// Whole numbers up to 256 are exact in bf16, and so are these sums.
std::uint16_t small(int rank, std::int64_t index) {
  return bf16_bits(static_cast<float>((rank + 1) * (index % 7)));
}

float sum_over_ranks(std::int64_t index) {
  return static_cast<float>(kRanks * (kRanks + 1) / 2 * (index % 7));
}

TEST(MeshGroup, ReducesExactlyWhateverTheCount) {
  for (const std::int64_t count : {1, 3, 5, 64, 1001, 300'000}) {
    const std::string error = on_all(kRanks, [&](MeshGroup& group) -> Result<void> {
      std::vector<std::uint16_t> in;
      for (std::int64_t i = 0; i < count; ++i) in.push_back(small(group.rank(), i));
      std::vector<std::uint16_t> out(in.size());
      TRY(group.all_reduce(in.data(), out.data(), count));
      for (std::int64_t i = 0; i < count; ++i) {
        const float got = bf16_value(out[static_cast<std::size_t>(i)]);
        if (got != sum_over_ranks(i)) return fail(ErrorKind::mismatch, i, ": ", got);
      }
      return {};
    });
    EXPECT_EQ(error, "") << count;
  }
}

TEST(MeshGroup, ScattersTheSumsOfItsOwnPart) {
  constexpr std::int64_t kCount = 17;
  const std::string error = on_all(kRanks, [&](MeshGroup& group) -> Result<void> {
    std::vector<std::uint16_t> in;
    for (std::int64_t i = 0; i < kRanks * kCount; ++i) in.push_back(small(group.rank(), i));
    std::vector<std::uint16_t> out(kCount);
    TRY(group.reduce_scatter(in.data(), out.data(), kCount));
    for (std::int64_t i = 0; i < kCount; ++i) {
      const float got = bf16_value(out[static_cast<std::size_t>(i)]);
      if (got != sum_over_ranks(group.rank() * kCount + i)) return fail(ErrorKind::mismatch, got);
    }
    return {};
  });
  EXPECT_EQ(error, "");
}

TEST(MeshGroup, GathersAndExchangesEveryPart) {
  const std::string error = on_all(kRanks, [&](MeshGroup& group) -> Result<void> {
    const int own = group.rank();
    std::vector<int> all(kRanks);
    TRY(group.all_gather(&own, all.data(), sizeof own));
    std::vector<int> to_each;
    for (int other = 0; other < kRanks; ++other) to_each.push_back(100 * own + other);
    std::vector<int> from_each(kRanks);
    TRY(group.all_to_all(to_each.data(), from_each.data(), sizeof own));
    for (int other = 0; other < kRanks; ++other) {
      const auto at = static_cast<std::size_t>(other);
      if (all[at] != other) return fail(ErrorKind::mismatch, "gathered ", all[at]);
      if (from_each[at] != 100 * other + own) return fail(ErrorKind::mismatch, from_each[at]);
    }
    return {};
  });
  EXPECT_EQ(error, "");
}

TEST(Mesh, SaysWhichRankIsGone) {
  auto meshes = Mesh::in_process(3);
  { const Mesh gone = std::move(meshes[2]); }
  MeshGroup group(meshes[0], {0, 2});
  const auto done = group.barrier();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message, "rank 2 closed its connection");
}

TEST(Mesh, ConnectsRanksAndRefusesStrangersAndTwins) {
  std::vector<Listener> listeners;
  std::vector<RankContact> contacts;
  for (int rank = 0; rank < 3; ++rank) {
    listeners.push_back(Listener::open("127.0.0.1").value());
    contacts.push_back(listeners.back().contact());
  }
  EXPECT_NE(contacts[0].key, contacts[1].key);
  // Rank 1 as a stranger calls it, who does not know its key.
  auto forged = contacts;
  forged[0].key = std::string(32, '0');
  auto other = Listener::open("127.0.0.1").value();
  const auto stranger = Mesh::connect(std::move(other), {forged[0], forged[1]}, 1, 200ms);
  EXPECT_TRUE(stranger) << "it is not told that it was refused";
  std::vector<std::string> errors(3);
  std::vector<std::jthread> threads;
  for (std::size_t rank = 0; rank < 3; ++rank) {
    threads.emplace_back([&, rank] {
      auto mesh =
          Mesh::connect(std::move(listeners[rank]), contacts, static_cast<int>(rank), 5000ms);
      if (!mesh) {
        errors[rank] = mesh.error().message;
        return;
      }
      MeshGroup group(*mesh, {0, 1, 2});
      const auto values = group.values(static_cast<double>(rank));
      if (!values || values.value() != std::vector<double>{0, 1, 2}) errors[rank] = "no values";
    });
  }
  threads.clear();
  for (const std::string& error : errors) EXPECT_EQ(error, "");
}

TEST(Mesh, NamesTheRanksThatDoNotCome) {
  auto listener = Listener::open("127.0.0.1").value();
  const std::vector<RankContact> contacts(3, listener.contact());
  const auto mesh = Mesh::connect(std::move(listener), contacts, 0, 50ms);
  ASSERT_FALSE(mesh);
  EXPECT_EQ(mesh.error().message, "ranks 1, 2 did not connect to rank 0 within 0.05 s");
}

TEST(Mesh, SaysThatAnAddressDoesNotResolve) {
  const auto listener = Listener::open("no-such-host.invalid");
  ASSERT_FALSE(listener);
  EXPECT_NE(listener.error().message.find("no-such-host.invalid"), std::string::npos);
}

}  // namespace
}  // namespace headsplit::tp
