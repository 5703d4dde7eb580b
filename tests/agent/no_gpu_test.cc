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

}  // namespace
}  // namespace headsplit::agent
