#include "coordinator/metrics/discovery.h"

#include <gtest/gtest.h>

namespace headsplit::coordinator {
namespace {

TEST(Discovery, NamesTheCoordinatorAsTheCallerDid) {
  EXPECT_EQ(json::serialize(coordinator_targets("hpc7.example:7077")),
            R"([{"targets":["hpc7.example:7077"],"labels":{}}])");
  EXPECT_EQ(json::serialize(coordinator_targets("[::1]:7077")),
            R"([{"targets":["[::1]:7077"],"labels":{}}])");
}

TEST(Discovery, IsAnEmptyListWhenThereIsNothing) {
  EXPECT_EQ(json::serialize(coordinator_targets("")), "[]");
  EXPECT_EQ(json::serialize(coordinator_targets("evil/path?x")), "[]");
  EXPECT_EQ(json::serialize(node_targets({}, 9400)), "[]");
}

TEST(Discovery, NamesEachNodeOfAgentsOnce) {
  const std::vector<std::string> nodes = {"node2", "node1", "node2", "not a host", ""};
  EXPECT_EQ(json::serialize(node_targets(nodes, 9400)),
            R"([{"targets":["node1:9400"],"labels":{"node":"node1"}},)"
            R"({"targets":["node2:9400"],"labels":{"node":"node2"}}])");
}

}  // namespace
}  // namespace headsplit::coordinator
