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
