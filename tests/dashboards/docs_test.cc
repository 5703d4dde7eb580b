#include <gtest/gtest.h>

#include "coordinator/metrics/metric_table.h"
#include "tests/dashboards/files.h"

namespace headsplit::dashboards {
namespace {

TEST(Docs, ListEveryMetricAsTheTableHasIt) {
  const std::string name = "docs/observability.md";
  const std::string begin = "<!-- metrics: written by coordinator/metrics/metric_table.cc -->\n";
  const std::string end = "<!-- metrics: end -->";
  const std::string text = source_text(name);
  const std::size_t first = text.find(begin);
  const std::size_t last = text.find(end);
  ASSERT_TRUE(first != std::string::npos && last != std::string::npos);
  const std::string before = text.substr(0, first + begin.size());
  expect_generated(name, before + coordinator::metrics_markdown() + text.substr(last));
}

}  // namespace
}  // namespace headsplit::dashboards
