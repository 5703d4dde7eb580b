#include "coordinator/metrics/discovery.h"

#include <gtest/gtest.h>

namespace headsplit::coordinator {
namespace {

AgentView agent_on(const std::string& node) {
  AgentView view;
  view.agent.node = node;
  return view;
}

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
  const std::vector<AgentView> agents = {agent_on("node2"), agent_on("node1"), agent_on("node2"),
                                         agent_on("not a host"), agent_on("")};
  EXPECT_EQ(json::serialize(node_targets(agents, 9400)),
            R"([{"targets":["node1:9400"],"labels":{"node":"node1"}},)"
            R"({"targets":["node2:9400"],"labels":{"node":"node2"}}])");
}

}  // namespace
}  // namespace headsplit::coordinator
