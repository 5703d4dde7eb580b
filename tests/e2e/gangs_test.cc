// Gangs as a user starts them: mpirun, real agents, real streams between their workers.

#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <thread>

#include "tests/e2e/cluster.h"

namespace headsplit::e2e {
namespace {

using namespace std::chrono_literals;

constexpr const char* kQuick = "measure: {min_time_ms: 1, max_noise: 0.9, max_time_ms: 50}\n";
/// A point that is at it for about a second.
constexpr const char* kLong =
    "measure: {min_time_ms: 1000, max_noise: 0.000001, max_time_ms: 1200}\n";

std::string gang_sweep(const std::string& name, const std::string& layouts,
                       const std::string& more) {
  return "name: " + name + "\nranks: real\nlayouts: " + layouts +
         "\naxes: {batch: 1, context: 256, l2: warm}\n" + more;
}

/// A coordinator, and agents of a launcher and by hand.
class Gangs : public testing::Test {
 protected:
  Command& mpirun(int ranks) {
    const std::vector<std::string> argv = {
        "mpirun",        "--allow-run-as-root", "--oversubscribe",
        "-np",           std::to_string(ranks), program("headsplit-agent"),
        "--coordinator", cluster.server().url,  "--backend",
        "cpu",           "--threads",           "1"};
    launched_.push_back(std::make_unique<Command>(cluster.scratch(), argv));
    return *launched_.back();
  }
  bool agents_are(std::size_t count) {
    return eventually([&] { return cluster.agents().size() == count; });
  }
  std::string submit(const std::string& text) {
    const auto view = cli::submit_sweep(cluster.server(), text, "gang.yaml", 0, "");
    if (view) return view->id;
    ADD_FAILURE() << view.error().message;
    return "";
  }
  bool finished(const std::string& id) {
    return eventually([&] { return cluster.finished(id); });
  }
  /// The worker of an agent that works on a point for a while.
  pid_t worker_at_work(const Command& agent, const std::string& id) {
    const auto sampling = [&] { return cluster.sweep(id).running == 1; };
    EXPECT_TRUE(eventually(sampling));
    std::this_thread::sleep_for(500ms);
    const auto workers = children_of(const_cast<Command&>(agent).child().pid());
    EXPECT_EQ(workers.size(), 1u);
    return workers.empty() ? 0 : workers[0];
  }

  Cluster cluster{{"--gang-patience-s", "2", "--heartbeat-s", "0.2", "--silence-limit-s", "3"}};

 private:
  std::vector<std::unique_ptr<Command>> launched_;
};

TEST_F(Gangs, UnderMpirunRunEveryLayoutOnRealRanks) {
  Command& launcher = mpirun(4);
  ASSERT_TRUE(agents_are(4)) << launcher.err();
  const std::string id =
      submit(gang_sweep("layouts", "[{tp: 1}, {tp: 2}, {tp: 4}, {cp: 4}, {tp: 2, cp: 2}]", kQuick));
  ASSERT_TRUE(finished(id)) << launcher.err();
  for (const Row& row : cluster.rows(id)) {
    ASSERT_EQ(row.status, Status::ok) << row.layout << ": " << row.reason;
    EXPECT_EQ(row.parts.size(), static_cast<std::size_t>(row.tp * row.dp * row.cp));
    EXPECT_LE(row.error_vs_reference.value(), 1) << row.layout;
    EXPECT_GT(row.attention_us.value(), 0);
    EXPECT_GT(row.gang_start_us.value(), 0);
    std::vector<std::string> agents;
    for (const RankPart& part : row.parts) agents.push_back(part.agent);
    std::ranges::sort(agents);
    EXPECT_EQ(std::ranges::unique(agents).begin(), agents.end()) << "an agent plays one rank";
  }
  launcher.child().signal(SIGTERM);
  launcher.finish(20s);
  EXPECT_TRUE(agents_are(0));
}

TEST_F(Gangs, CollectivesHaveRowsOfTheirOwn) {
  Command& launcher = mpirun(2);
  ASSERT_TRUE(agents_are(2)) << launcher.err();
  const std::string id =
      submit(str("name: messages\nranks: real\nkernels: [all_reduce, all_gather, reduce_scatter, "
                 "all_to_all]\ntp: 2\naxes: {message_bytes: [1K, 1M]}\n",
                 kQuick));
  ASSERT_TRUE(finished(id)) << launcher.err();
  for (const Row& row : cluster.rows(id)) {
    ASSERT_EQ(row.status, Status::ok) << row.kernel << ": " << row.reason;
    const double factor = row.kernel == "all_reduce" ? 1 : 0.5;
    EXPECT_DOUBLE_EQ(row.busbw_gbps.value(), row.algbw_gbps.value() * factor);
    EXPECT_FALSE(row.attention_us);
  }
}

TEST_F(Gangs, AWorkerThatDiesInTheCollectiveCostsTheGangOneAttempt) {
  Command& first = cluster.start_agent("a", {"--threads", "1"});
  Command& second = cluster.start_agent("b", {"--threads", "1"});
  ASSERT_TRUE(agents_are(2)) << first.err();
  const std::string id = submit(gang_sweep("dies", "[{tp: 2}]", kLong));
  ::kill(worker_at_work(second, id), SIGKILL);
  ASSERT_TRUE(finished(id)) << first.err();
  const auto points = cluster.points(id);
  EXPECT_EQ(points[0].status, Status::ok);
  EXPECT_EQ(points[0].attempts, 1);
  EXPECT_EQ(points[0].epoch, 2);
  EXPECT_FALSE(first.child().ended() || second.child().ended());
}

TEST_F(Gangs, AnAgentThatDiesEndsTheAttemptForAllAndOthersAreUnharmed) {
  Command& first = cluster.start_agent("a", {"--threads", "1"});
  Command& second = cluster.start_agent("b", {"--threads", "1"});
  ASSERT_TRUE(agents_are(2)) << first.err();
  const std::string id = submit(gang_sweep("dies", "[{tp: 2}, {tp: 1}]", kLong));
  worker_at_work(second, id);
  ::kill(second.child().pid(), SIGKILL);
  ASSERT_TRUE(finished(id)) << first.err();
  const auto rows = cluster.rows(id);
  EXPECT_EQ(rows[0].status, Status::skipped);
  EXPECT_EQ(rows[0].reason, "needs 2 agents at once; 1 is connected");
  EXPECT_EQ(rows[1].status, Status::ok) << "a gang of one goes on";
}

TEST_F(Gangs, ARankThatNeverArrivesFailsThePointByName) {
  Command& first = cluster.start_agent("a", {"--threads", "1"});
  Command& sleeper = cluster.start_agent("b", {"--threads", "1"});
  ASSERT_TRUE(agents_are(2)) << first.err();
  ::kill(sleeper.child().pid(), SIGSTOP);
  const std::string id =
      submit(gang_sweep("late", "[{tp: 2}]", std::string(kQuick) + "limits: {attempts: 1}\n"));
  ASSERT_TRUE(finished(id)) << first.err();
  ::kill(sleeper.child().pid(), SIGCONT);
  const std::string reason = cluster.rows(id)[0].reason;
  EXPECT_TRUE(reason.starts_with("1 attempt failed; 1: lost: rank ")) << reason;
  EXPECT_TRUE(reason.ends_with("(agent b) silent for 3 s")) << reason;
}

TEST_F(Gangs, AnAddressThatDoesNotResolveIsNamed) {
  Command& first = cluster.start_agent("a", {"--threads", "1"});
  cluster.start_agent("b", {"--threads", "1", "--address", "no-such-host.invalid"});
  ASSERT_TRUE(agents_are(2)) << first.err();
  const std::string id =
      submit(gang_sweep("lost", "[{tp: 2}]", std::string(kQuick) + "limits: {attempts: 1}\n"));
  ASSERT_TRUE(finished(id)) << first.err();
  const Row row = cluster.rows(id)[0];
  EXPECT_EQ(row.status, Status::failed);
  EXPECT_NE(row.reason.find("(agent b) address 'no-such-host.invalid'"), std::string::npos)
      << row.reason;
}

TEST_F(Gangs, AKilledMpirunTakesItsAgentsAndNobodyElses) {
  Command& by_hand = cluster.start_agent("a", {"--threads", "1"});
  cluster.start_agent("b", {"--threads", "1"});
  Command& launcher = mpirun(2);
  ASSERT_TRUE(agents_are(4)) << launcher.err();
  const std::string id = submit(gang_sweep("killed", "[{tp: 4}, {tp: 2}]", kLong));
  worker_at_work(by_hand, id);
  ::kill(launcher.child().pid(), SIGKILL);
  launcher.finish(10s);
  EXPECT_TRUE(agents_are(2)) << "its agents end with it";
  ASSERT_TRUE(finished(id)) << by_hand.err();
  const auto rows = cluster.rows(id);
  EXPECT_EQ(rows[0].status, Status::skipped);
  EXPECT_EQ(rows[0].reason, "needs 4 agents at once; 2 are connected");
  EXPECT_EQ(rows[1].status, Status::ok) << rows[1].reason;
}

TEST(GangsAcrossNodes, TwoNetworkNamespacesRunOneGang) {
  const Scratch scratch;
  const std::string script =
      std::string(std::getenv("HEADSPLIT_SOURCE")) + "/tests/e2e/two_nodes.sh";
  const Finished ran = run(scratch, {"bash", script, scratch.path("work")});
  if (ran.exit_status == 77) GTEST_SKIP() << ran.err;
  ASSERT_EQ(ran.exit_status, 0) << ran.out << ran.err;
  std::istringstream lines(ran.out);
  int rows = 0;
  for (std::string line; std::getline(lines, line); ++rows) {
    const Row row = value_from_text<Row>(line).value();
    ASSERT_EQ(row.status, Status::ok) << row.reason;
    EXPECT_LE(row.error_vs_reference.value(), 1);
    std::vector<std::string> nodes;
    for (const RankPart& part : row.parts) nodes.push_back(part.node);
    EXPECT_NE(std::ranges::find(nodes, "gang-a"), nodes.end());
    EXPECT_NE(std::ranges::find(nodes, "gang-b"), nodes.end());
  }
  EXPECT_EQ(rows, 2);
}

}  // namespace
}  // namespace headsplit::e2e
