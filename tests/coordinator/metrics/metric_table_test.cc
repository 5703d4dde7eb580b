#include "coordinator/metrics/metric_table.h"

#include <gtest/gtest.h>

#include <regex>
#include <set>
#include <string>

namespace headsplit::coordinator {
namespace {

using prometheus::MetricType;

TEST(MetricTable, IsInTheOrderOfTheMetrics) {
  for (std::size_t i = 0; i < metric_table().size(); ++i) {
    EXPECT_EQ(metric_table()[i].metric, Metric(i)) << metric_table()[i].name;
  }
  EXPECT_EQ(metric_table().back().metric, Metric::gpu_throttled) << "the last of the enumeration";
}

TEST(MetricTable, NamesHaveThePrefixAndAreUnique) {
  std::set<std::string_view> names;
  const std::regex legal("(headsplit|process)(_[a-z0-9]+)+");
  for (const MetricSpec& spec : metric_table()) {
    EXPECT_TRUE(std::regex_match(std::string(spec.name), legal)) << spec.name;
    EXPECT_TRUE(names.insert(spec.name).second) << spec.name;
  }
}

TEST(MetricTable, OnlyCountersEndInTotalAndUnitsStandAtTheEnd) {
  for (const MetricSpec& spec : metric_table()) {
    std::string_view base = spec.name;
    EXPECT_EQ(base.ends_with("_total"), spec.type == MetricType::Counter) << spec.name;
    if (base.ends_with("_total")) base.remove_suffix(6);
    if (!spec.unit.empty()) {
      EXPECT_TRUE(base.ends_with("_" + std::string(spec.unit))) << spec.name;
    }
  }
}

TEST(MetricTable, UnitsAreBaseUnits) {
  const std::set<std::string_view> base = {"",       "seconds", "bytes",  "hertz",
                                           "joules", "watts",   "celsius"};
  const std::regex scaled("_(ms|us|milliseconds|mhz|kb|mb|gb|gbps|tflops|percent)(_|$)");
  for (const MetricSpec& spec : metric_table()) {
    EXPECT_TRUE(base.contains(spec.unit)) << spec.name << ": " << spec.unit;
    EXPECT_FALSE(std::regex_search(std::string(spec.name), scaled)) << spec.name;
  }
}

TEST(MetricTable, LabelsAreBoundedAndNotThoseOfTheScrape) {
  // Shapes, points and epochs have as many values as a sweep has points: rows have them, not
  // labels.
  const std::set<std::string_view> banned = {
      "job",   "instance",     "le",      "quantile", "type",  "cluster", "env",  "stage",
      "batch", "query_tokens", "context", "point_id", "epoch", "repeat",  "seed", "row",
  };
  for (const MetricSpec& spec : metric_table()) {
    EXPECT_LE(spec.labels.size(), 8u) << spec.name;
    for (const auto label : spec.labels) EXPECT_FALSE(banned.contains(label)) << spec.name;
  }
}

TEST(MetricTable, HelpIsOneSentenceOrMore) {
  for (const MetricSpec& spec : metric_table()) {
    EXPECT_TRUE(spec.help.ends_with('.')) << spec.name;
    EXPECT_EQ(spec.help.find_first_of("\n|"), std::string_view::npos) << spec.name;
  }
}

}  // namespace
}  // namespace headsplit::coordinator
