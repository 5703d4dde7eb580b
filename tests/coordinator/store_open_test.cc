#include <sys/stat.h>

#include <array>
#include <fstream>

#include "coordinator/database_file.h"
#include "coordinator/schema.h"
#include "coordinator/sqlite.h"
#include "tests/coordinator/store_fixture.h"

namespace headsplit::coordinator {
namespace {

class StoreOpenTest : public StoreFixture {
 protected:
  std::string error_of(const std::string& file) const {
    const auto store = Store::open(file);
    return store ? "no error" : store.error().message;
  }
  void run_sql(const std::string& sql) const {
    auto database = Database::open(path(), OpenMode::read_write, 1000).value();
    ASSERT_TRUE(database.execute(sql));
  }
};

TEST_F(StoreOpenTest, RefusesAFolderThatIsNotThere) {
  EXPECT_EQ(error_of(path("no/a.db")),
            path("no/a.db") + ": there is no folder " + path("no") + " to hold the database");
}

TEST_F(StoreOpenTest, RefusesAFolder) {
  EXPECT_EQ(error_of(folder_.string()), folder_.string() + ": is a folder; name a database file");
}

TEST_F(StoreOpenTest, RefusesWhereNothingCanBeWritten) {
  EXPECT_EQ(error_of("/proc/a.db").find("/proc/a.db: "), 0u);
  EXPECT_NE(error_of("/proc/a.db").find("cannot be"), std::string::npos) << error_of("/proc/a.db");
}

TEST_F(StoreOpenTest, RefusesWhatIsNotADatabaseAndLeavesItAlone) {
  std::ofstream(path()) << "name: quick\ntp: [1, 2, 4, 8]\n";
  EXPECT_EQ(error_of(path()), path() + ": is not a database; name another file, or move it away");
  EXPECT_EQ(StoreReader::open(path()).error().message, error_of(path()));
  EXPECT_EQ(std::filesystem::file_size(path()), 29u);
}

TEST_F(StoreOpenTest, RefusesTheDatabaseOfAnotherProgram) {
  run_sql("CREATE TABLE bookmarks (url TEXT)");
  EXPECT_EQ(error_of(path()), path() + ": is a database of another program; name another file");
}

TEST_F(StoreOpenTest, RefusesANewerSchemaAndSaysBothVersions) {
  Store::open(path()).value();
  run_sql("PRAGMA user_version = 7");
  const std::string wanted =
      path() + str(": has schema version 7, and this program knows up to ", schema_version(),
                   "; use the headsplit that wrote it, or a newer one");
  EXPECT_EQ(error_of(path()), wanted);
  EXPECT_EQ(StoreReader::open(path()).error().message, wanted);
}

TEST_F(StoreOpenTest, RefusesACorruptFile) {
  {
    const auto store = Store::open(path()).value();
    begin(*store, plan_of("name: a\ntp: [1, 2, 4, 8, 16]\nmeasure: {repeats: 40}")).value();
  }
  {
    std::fstream file(path(), std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(4096 * 5);
    file << std::string(40'000, '\xEE');
  }
  const std::string message = error_of(path());
  EXPECT_EQ(message.find(path() + ": is corrupt ("), 0u) << message;
  EXPECT_EQ(message.find('\n'), std::string::npos);
}

TEST_F(StoreOpenTest, RefusesATruncatedFile) {
  {
    const auto store = Store::open(path()).value();
    begin(*store, plan_of("name: a\ntp: [1, 2, 4, 8, 16]\nmeasure: {repeats: 40}")).value();
  }
  std::filesystem::resize_file(path(), 6000);
  EXPECT_NE(error_of(path()), "no error");
  EXPECT_EQ(error_of(path()).find('\n'), std::string::npos);
}

TEST_F(StoreOpenTest, RefusesASecondWriter) {
  const auto first = Store::open(path()).value();
  EXPECT_EQ(error_of(path()), path() +
                                  ": is in use by another coordinator; end that one, or name "
                                  "another file");
  EXPECT_TRUE(begin(*first, plan_of("name: a\ntp: 1"))) << "the first keeps its locks";
}

TEST_F(StoreOpenTest, ReadsWhileAnotherWrites) {
  const auto store = Store::open(path()).value();
  const Plan plan = plan_of("name: a\ntp: [1, 2]");
  begin(*store, plan).value();
  const auto reader = StoreReader::open(path()).value();
  finish(*store, plan, 0);
  EXPECT_EQ(reader->rows({}).value().size(), 1u);
  finish(*store, plan, 1);
  EXPECT_EQ(reader->rows({}).value().size(), 2u);
}

TEST_F(StoreOpenTest, ReadsAPathWithCharactersThatMeanSomethingInAUri) {
  const std::string odd = path("50%?#.db");
  Store::open(odd).value();
  EXPECT_TRUE(StoreReader::open(odd));
  EXPECT_TRUE(std::filesystem::exists(odd));
}

TEST_F(StoreOpenTest, ReaderSaysThatThereIsNothingToRead) {
  EXPECT_EQ(StoreReader::open(path()).error().message, path() + ": there is no such database");
  std::ofstream file(path());
  EXPECT_EQ(StoreReader::open(path()).error().message,
            path() + ": is empty: no sweep was stored in it yet");
}

TEST_F(StoreOpenTest, MigratesStepByStepAndOnlyWhatIsMissing) {
  auto database = Database::open(path(), OpenMode::read_write, 1000).value();
  const std::array first = {Migration{1, "CREATE TABLE a (x INTEGER);"}};
  const std::array both = {first[0], Migration{2, "ALTER TABLE a ADD COLUMN y INTEGER;"}};
  ASSERT_TRUE(migrate(database, first));
  EXPECT_EQ(database.integer("PRAGMA user_version").value(), 1);
  ASSERT_TRUE(migrate(database, both));
  EXPECT_EQ(database.integer("PRAGMA user_version").value(), 2);
  ASSERT_TRUE(database.execute("INSERT INTO a (x, y) VALUES (1, 2)"));
  EXPECT_EQ(database.integer("PRAGMA application_id").value(), kApplicationId);
}

/// A sweep in its second run as schema version 1 had it: a row of each run, and a point that waits.
void write_version_1(const std::string& path, const Plan& plan) {
  auto database = Database::open(path, OpenMode::read_write, 1000).value();
  migrate(database, migrations().first(1)).value();
  database
      .prepare(
          "INSERT INTO sweeps (id, name, backend, content, seed, limits, run, created_unix_s) "
          "VALUES (?1, ?2, 'cpu', ?3, '1', ?4, 2, 0)")
      .value()
      .run(plan.id, plan.name, plan.content, json_text(plan.limits))
      .value();
  for (std::size_t at = 0; at < plan.points.size(); ++at) {
    const PlannedPoint& planned = plan.points[at];
    const auto position = static_cast<std::int64_t>(at);
    const std::int64_t point = position + 1;
    database.prepare("INSERT INTO points VALUES (?1, 1, ?2, ?3, 'label', ?4)")
        .value()
        .run(point, position, planned.id, json_text(planned))
        .value();
    const bool done = at < 2;
    database.prepare("INSERT INTO progress VALUES (?1, 1, ?2, ?3, ?4)")
        .value()
        .run(point, done ? "done" : "pending", done ? 1 : 0,
             done ? std::optional<std::string>("ok") : std::nullopt)
        .value();
    if (!done) continue;
    database
        .prepare(
            "INSERT INTO rows VALUES (?1, 1, ?2, 1, ?1, 'ok', '', '', '', 1, 1, 1, '', 1.0, "
            "0.0, ?3)")
        .value()
        .run(point, planned.id, json_text(row_of(planned.point)))
        .value();
  }
}

TEST_F(StoreOpenTest, GoesOnWithADatabaseOfSchemaVersion1) {
  const Plan plan = plan_of("name: a\ntp: [1, 2, 4]");
  write_version_1(path(), plan);
  EXPECT_EQ(StoreReader::open(path()).value()->rows({.sweep = "a"}).value().size(), 2u)
      << "readers take it as it is";
  const auto store = Store::open(path()).value();
  const auto restored = store->restore().value().open;
  ASSERT_EQ(restored.size(), 1u);
  EXPECT_EQ(restored[0].run, 3);
  EXPECT_EQ(restored[0].plan->points[2], plan.points[2]);
  EXPECT_EQ(json_text(restored[0].progress),
            R"([{"state":"done","epoch":1,"failures":[],"status":"ok","resumed":true},)"
            R"({"state":"done","epoch":1,"failures":[],"status":"ok","resumed":true},)"
            R"({"state":"pending","epoch":0,"failures":[],"status":"failed","resumed":false}])");
  auto database = Database::open(path(), OpenMode::read_only, 1000).value();
  EXPECT_EQ(database.text("SELECT group_concat(ifnull(run, 'none')) FROM progress").value(),
            "1,2,none")
      << "each point knows the run that stored its row";
  finish(*store, plan, 2);
  const auto rows = StoreReader::open(path()).value()->rows({}).value();
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_TRUE(rows[1].resumed);
  EXPECT_FALSE(rows[2].resumed);
}

TEST_F(StoreOpenTest, AFailedMigrationChangesNothing) {
  auto database = Database::open(path(), OpenMode::read_write, 1000).value();
  const std::array bad = {Migration{1, "CREATE TABLE a (x INTEGER); CREATE TABLE a (y INTEGER);"}};
  EXPECT_FALSE(migrate(database, bad));
  EXPECT_EQ(database.integer("PRAGMA user_version").value(), 0);
  EXPECT_EQ(database.integer("SELECT count(*) FROM sqlite_master").value(), 0);
}

TEST_F(StoreOpenTest, KnowsNetworkFileSystems) {
  EXPECT_EQ(network_file_system(0x6969), "NFS");
  EXPECT_EQ(network_file_system(0xFF534D42), "CIFS");
  EXPECT_EQ(network_file_system(0xFFFFFFFFFF534D42ul), "CIFS") << "sign-extended f_type";
  EXPECT_EQ(network_file_system(0xEF53), std::nullopt);
}

}  // namespace
}  // namespace headsplit::coordinator
