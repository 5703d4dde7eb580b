#include <gtest/gtest.h>

#include <cstdio>

#include "tests/dashboards/files.h"

/// Tests that need Prometheus' own programs; ctest takes 77 for "skipped".
int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  for (const char* program : {"prometheus", "promtool"}) {
    if (headsplit::dashboards::has_program(program)) continue;
    std::printf("skipped: %s is not installed (Debian package prometheus)\n", program);
    return 77;
  }
  return RUN_ALL_TESTS();
}
