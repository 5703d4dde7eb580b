#include <gtest/gtest.h>

#include <set>

#include "kernels/kernel.h"

namespace headsplit::kernels {
namespace {

TEST(Registry, EveryKernelIsCompleteAndNamedOnceOnItsBackend) {
  std::set<std::pair<std::string, Backend>> names;
  for (const KernelEntry& entry : registry()) {
    EXPECT_TRUE(names.emplace(entry.name, entry.backend).second) << entry.name;
    EXPECT_FALSE(entry.summary.empty());
    EXPECT_NE(entry.supports, nullptr);
    EXPECT_NE(entry.bind, nullptr);
  }
}

TEST(Registry, FindsTheCpuKernel) {
  const auto found = find_kernel("mla_dense", Backend::cpu);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ((*found)->name, "mla_dense");
}

TEST(Registry, ListsTheNamesThereAreWhenOneIsUnknown) {
  const auto found = find_kernel("mla_sparkle", Backend::cpu);
  ASSERT_FALSE(found.has_value());
  EXPECT_EQ(found.error().kind, ErrorKind::config);
  EXPECT_EQ(found.error().message.find("no cpu kernel 'mla_sparkle'; there are: mla_dense"), 0u);
}

}  // namespace
}  // namespace headsplit::kernels
