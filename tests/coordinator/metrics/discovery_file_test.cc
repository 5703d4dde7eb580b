#include "coordinator/metrics/discovery_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace headsplit::coordinator {
namespace {

class DiscoveryFileTest : public testing::Test {
 protected:
  DiscoveryFileTest() {
    folder_ = testing::TempDir() + "sd-" + std::to_string(::getpid());
    std::filesystem::create_directory(folder_);
    path_ = folder_ + "/headsplit.json";
  }
  ~DiscoveryFileTest() override { std::filesystem::remove_all(folder_); }

  std::string text() const {
    std::ostringstream text;
    text << std::ifstream(path_).rdbuf();
    return text.str();
  }

  std::string folder_;
  std::string path_;
};

TEST_F(DiscoveryFileTest, NamesTheCoordinatorWhileItRuns) {
  {
    const auto file = DiscoveryFile::write(path_, "http://10.0.0.1:7077", "node1");
    ASSERT_TRUE(file) << file.error().message;
    EXPECT_EQ(text(), "[{\"targets\":[\"10.0.0.1:7077\"],\"labels\":{}}]\n");
    EXPECT_FALSE(std::filesystem::exists(path_ + ".new"));
  }
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(DiscoveryFileTest, NamesTheMachineWhereTheCoordinatorListensEverywhere) {
  const auto four = DiscoveryFile::write(path_, "http://0.0.0.0:7077", "node1");
  EXPECT_NE(text().find("\"node1:7077\""), std::string::npos) << text();
  const auto six = DiscoveryFile::write(path_, "https://[::]:7077", "node1");
  EXPECT_EQ(text(), "[{\"targets\":[\"node1:7077\"],\"labels\":{\"__scheme__\":\"https\"}}]\n");
}

TEST_F(DiscoveryFileTest, SaysWhichFileCannotBeWrittenOrRead) {
  EXPECT_EQ(DiscoveryFile::write("/no/such/folder/a.json", "http://a:1", "a").error().message,
            "cannot write /no/such/folder/a.json: No such file or directory");
  EXPECT_EQ(DiscoveryFile::write("targets.txt", "http://a:1", "a").error().message,
            "--sd-file targets.txt: Prometheus reads files whose names end in .json");
}

}  // namespace
}  // namespace headsplit::coordinator
