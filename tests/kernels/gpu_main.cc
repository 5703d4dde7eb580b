#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstdio>

/// Tests that need a GPU: without one the program ends with 77, which ctest shows as skipped.
int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess || count == 0) {
    std::printf("no GPU (%s): skipped\n", cudaGetErrorName(status));
    return 77;
  }
  return RUN_ALL_TESTS();
}
