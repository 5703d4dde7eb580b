#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include "agent/device_cuda.h"

namespace headsplit::agent {
namespace {

TEST(NoGpu, IsSaidInOneLine) {
  int count = 0;
  if (cudaGetDeviceCount(&count) == cudaSuccess && count > 0) GTEST_SKIP() << "there is a GPU";
  const auto device = open_cuda_device();
  ASSERT_FALSE(device.has_value());
  EXPECT_EQ(device.error().kind, ErrorKind::cuda);
  EXPECT_EQ(device.error().message.find("no GPU: "), 0u) << device.error().message;
  EXPECT_EQ(device.error().message.find('\n'), std::string::npos);
}

/// The program is run once more with the library of fake_old_driver.cc in place of the driver's.
TEST(NoGpu, BecauseOfAnOldDriverNamesBothVersions) {
  int driver = 0;
  if (cudaDriverGetVersion(&driver) != cudaSuccess || driver != 11040) GTEST_SKIP() << "no fake";
  const auto device = open_cuda_device();
  ASSERT_FALSE(device.has_value());
  EXPECT_EQ(device.error().message.find("no GPU: the driver runs CUDA 11.4, this build needs "), 0u)
      << device.error().message;
}

}  // namespace
}  // namespace headsplit::agent
