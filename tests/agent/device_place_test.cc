#include "agent/device_place.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace headsplit::agent {
namespace {

/// A machine's /sys with these files.
class DevicePlace : public testing::Test {
 protected:
  void file(const std::string& name, const std::string& text) {
    const auto path = folder_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  AgentInfo placed(const std::string& gpu_uuid, const std::string& nvml = FAKE_NVML) {
    return with_place({.node = "node7", .gpu_uuid = gpu_uuid},
                      {.nvml = nvml, .system = folder_.string()});
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path folder_ = std::filesystem::path(testing::TempDir()) /
                                  testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(DevicePlace, OfAGpuIsThatOfItsPciDevice) {
  file("bus/pci/devices/0000:01:00.0/numa_node", "1\n");
  EXPECT_EQ(placed("GPU-one").numa_node, 1);
  EXPECT_EQ(placed("GPU-two").numa_node, -1) << "sysfs does not know it";
}

TEST_F(DevicePlace, GpusOfOneMachineWithLinksShareItsDomain) {
  EXPECT_EQ(placed("GPU-one").nvlink_domain, "node7");
}

TEST_F(DevicePlace, AFabricThatSpansMachinesIsTheDomain) {
  EXPECT_EQ(placed("GPU-two").nvlink_domain, "000000000000000000000000000000ab.7");
}

TEST_F(DevicePlace, WithoutLinksOrADriverThereIsNoDomain) {
  EXPECT_EQ(placed("GPU-one", FAKE_NVML_OLD).nvlink_domain, "");
  EXPECT_EQ(placed("GPU-one", "libno-such-nvml.so").nvlink_domain, "");
  EXPECT_EQ(placed("GPU-nobody").nvlink_domain, "");
}

TEST_F(DevicePlace, OfACpuIsTheNodeThatHasAllItsProcessors) {
  EXPECT_EQ(placed("").numa_node, -1) << "no nodes in sysfs";
  file("devices/system/node/node0/cpulist", "5000-5001\n");
  EXPECT_EQ(placed("").numa_node, -1);
  file("devices/system/node/node1/cpulist", "0-4095\n");
  EXPECT_EQ(placed("").numa_node, 1);
  EXPECT_EQ(placed("").nvlink_domain, "");
}

TEST(ProcessorList, IsReadAsTheKernelWritesIt) {
  EXPECT_EQ(processor_list("0-3,8"), (std::vector<int>{0, 1, 2, 3, 8}));
  EXPECT_EQ(processor_list("5"), std::vector<int>{5});
  EXPECT_TRUE(processor_list("").empty());
  EXPECT_TRUE(processor_list("0-x").empty());
}

}  // namespace
}  // namespace headsplit::agent
