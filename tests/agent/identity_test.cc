#include "agent/identity.h"

#include <gtest/gtest.h>

namespace headsplit::agent {
namespace {

const Machine kMachine{"gpu07.cluster.example", "4f1c"};

Identity identity_of(const Environment& environment) {
  return identity_from(environment, kMachine).value();
}

TEST(Identity, StartedByHandIsRankZeroOfItsHost) {
  EXPECT_EQ(identity_of({}), (Identity{.node = "gpu07"}));
  EXPECT_EQ(agent_name(identity_of({})), "gpu07-0");
}

TEST(Identity, ComesFromOpenMpi) {
  const Environment environment = {{"OMPI_COMM_WORLD_RANK", "11"},
                                   {"OMPI_COMM_WORLD_LOCAL_RANK", "3"}};
  EXPECT_EQ(identity_of(environment),
            (Identity{.node = "gpu07", .rank = 11, .local_rank = 3, .launcher = "open-mpi"}));
}

TEST(Identity, ComesFromSlurmWithItsNodeName) {
  const Environment environment = {{"SLURM_PROCID", "9"},
                                   {"SLURM_LOCALID", "1"},
                                   {"SLURMD_NODENAME", "n2.example"},
                                   {"PMIX_RANK", "9"}};
  EXPECT_EQ(identity_of(environment),
            (Identity{.node = "n2", .rank = 9, .local_rank = 1, .launcher = "slurm"}));
}

TEST(Identity, OfPmixAloneTakesTheRankAsLocalRank) {
  EXPECT_EQ(identity_of({{"PMIX_RANK", "2"}}).local_rank, 2);
}

TEST(Identity, OfAHostWithoutANameIsAHashOfTheMachine) {
  const auto one = identity_from({}, {"localhost", "aaaa"}).value().node;
  const auto other = identity_from({}, {"localhost", "bbbb"}).value().node;
  EXPECT_EQ(one.substr(0, 5), "node-");
  EXPECT_NE(one, other);
}

TEST(Identity, NamesTheVariableThatIsNoNumber) {
  EXPECT_EQ(identity_from({{"SLURM_PROCID", "x"}}, kMachine).error().message,
            "SLURM_PROCID='x': expected a number of 0 or more");
}

TEST(VisibleDevice, IsTheLocalRankWhenNothingIsSet) {
  EXPECT_EQ(visible_device({}, {.local_rank = 3}).value(), "3");
}

TEST(VisibleDevice, IsTheEntryOfTheListInForce) {
  const Environment environment = {{"CUDA_VISIBLE_DEVICES", "GPU-aa,GPU-bb"}};
  EXPECT_EQ(visible_device(environment, {.local_rank = 1}).value(), "GPU-bb");
  EXPECT_EQ(visible_device(environment, {.local_rank = 2}).error().message,
            "device 2: CUDA_VISIBLE_DEVICES='GPU-aa,GPU-bb' lists 2");
}

TEST(VisibleDevice, StaysWhereTheLauncherGaveEachTaskItsOwn) {
  const Environment environment = {{"CUDA_VISIBLE_DEVICES", "5"}};
  EXPECT_EQ(visible_device(environment, {.local_rank = 5, .launcher = "slurm"}).value(), "5");
}

TEST(ProcessorShare, GivesNeighboursAndGoesRound) {
  EXPECT_EQ(processor_share({0, 1, 2, 3}, 2, 1), (std::vector<int>{2, 3}));
  EXPECT_EQ(processor_share({0, 1, 2, 3}, 2, 2), (std::vector<int>{0, 1}));
  EXPECT_EQ(processor_share({4, 6}, 8, 3), (std::vector<int>{4, 6}));
}

}  // namespace
}  // namespace headsplit::agent
