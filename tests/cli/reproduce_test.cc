#include "cli/reproduce.h"

#include <cstdlib>

#include "tests/cli/run_verb.h"
#include "tests/coordinator/store_fixture.h"

namespace headsplit::cli {
namespace {

/// A database with one row of a sweep that was measured in its own way.
class ReproduceVerb : public coordinator::StoreFixture {
 protected:
  ReproduceVerb() {
    const auto plan = plan_of("name: s\ntp: [2]\nmeasure: {min_time_ms: 77}\n");
    const auto store = coordinator::Store::open(path()).value();
    EXPECT_TRUE(begin(*store, plan));
    finish(*store, plan, 0);
    id_ = plan.points[0].id;
  }

  std::string id_;
};

Answer reproduce(const std::string& options) {
  return run_verb(add_reproduce, "reproduce " + options);
}

TEST_F(ReproduceVerb, TakesTheMeasuringSettingsFromTheSweepOfTheRow) {
  const Answer answer = reproduce(id_.substr(0, 8) + " --db " + path());
  EXPECT_EQ(answer.code, 0) << answer.err;
  EXPECT_NE(answer.out.find("\"min_time_ms\":7.7E1"), std::string::npos) << answer.out;
  EXPECT_NE(answer.out.find("layouts: [{\"tp\":2,\"dp\":1,\"cp\":1}]"), std::string::npos)
      << answer.out;
  EXPECT_EQ(answer.out.find("the defaults"), std::string::npos) << answer.out;
}

TEST_F(ReproduceVerb, RefusesARowThatIsNotThere) {
  const Answer answer = reproduce("0123 --db " + path());
  EXPECT_EQ(answer.code, 2);
  EXPECT_EQ(answer.err, "headsplit: no row of point '0123'\n");
}

TEST(ReproduceVerbOnLines, TakesRowsOfAnExport) {
  const std::string rows =
      std::string(std::getenv("HEADSPLIT_SOURCE")) + "/evidence/h200/tp-erosion-main.jsonl";
  const Answer answer = reproduce("628443c3 --json --db " + rows);
  EXPECT_EQ(answer.code, 0) << answer.err;
  EXPECT_NE(answer.out.find("\"point_id\":\"628443c38dc952ae\""), std::string::npos) << answer.out;
}

}  // namespace
}  // namespace headsplit::cli
