#include "coordinator/metrics/openmetrics.h"

#include <gtest/gtest.h>

namespace headsplit::coordinator {
namespace {

Exposition small_exposition() {
  ExpositionBuilder out(1000);
  out.add(Metric::build_info, {"0.1.0", "abc\"\\\n"}, 1);
  out.add(Metric::process_cpu, {}, 2);
  Histogram commits({0.25, 1});
  commits.observe(0.5, Exemplar{"sweep=p&row=r", 0.5, 1700000000.25});
  commits.observe(3);
  out.add(Metric::store_commit_duration, {}, commits);
  return out.finish(0);
}

TEST(OpenMetrics, HasTypesUnitsEscapesExemplarsAndAnEnd) {
  EXPECT_EQ(openmetrics_text(small_exposition()),
            "# TYPE headsplit_build info\n"
            "# HELP headsplit_build 1; what this coordinator is.\n"
            "headsplit_build_info{version=\"0.1.0\",revision=\"abc\\\"\\\\\\n\"} 1.0\n"
            "# TYPE process_cpu_seconds counter\n"
            "# UNIT process_cpu_seconds seconds\n"
            "# HELP process_cpu_seconds CPU time of this process.\n"
            "process_cpu_seconds_total 2.0\n"
            "# TYPE headsplit_metrics_series_omitted counter\n"
            "# HELP headsplit_metrics_series_omitted Series that --metrics-series-max left out, "
            "summed over all scrapes.\n"
            "headsplit_metrics_series_omitted_total 0.0\n"
            "# TYPE headsplit_store_commit_duration_seconds histogram\n"
            "# UNIT headsplit_store_commit_duration_seconds seconds\n"
            "# HELP headsplit_store_commit_duration_seconds From handing a record to the store "
            "until it is durable.\n"
            "headsplit_store_commit_duration_seconds_bucket{le=\"0.25\"} 0\n"
            "headsplit_store_commit_duration_seconds_bucket{le=\"1.0\"} 1 # "
            "{row=\"sweep=p&row=r\"} 0.5 1700000000.25\n"
            "headsplit_store_commit_duration_seconds_bucket{le=\"+Inf\"} 2\n"
            "headsplit_store_commit_duration_seconds_count 2\n"
            "headsplit_store_commit_duration_seconds_sum 3.5\n"
            "# EOF\n");
}

TEST(OpenMetrics, IsSentToWhoeverAsksForIt) {
  const Exposition exposition = small_exposition();
  const auto type = [&](const std::string& accept) {
    const MetricsReply reply = metrics_reply(exposition, accept);
    EXPECT_EQ(reply.body.ends_with("# EOF\n"), reply.content_type.starts_with("application"));
    return reply.content_type.substr(0, reply.content_type.find(';'));
  };
  EXPECT_EQ(type(""), "text/plain");
  EXPECT_EQ(type("*/*"), "text/plain");
  EXPECT_EQ(type("text/html, text/plain;q=0.5"), "text/plain");
  EXPECT_EQ(type("application/openmetrics-text"), "application/openmetrics-text");
  EXPECT_EQ(type("application/openmetrics-text;version=1.0.0,"
                 "application/openmetrics-text;version=0.0.1;q=0.75,"
                 "text/plain;version=0.0.4;q=0.5,*/*;q=0.1"),
            "application/openmetrics-text");
  EXPECT_EQ(type("application/openmetrics-text; q=0.2, text/plain; q=0.9"), "text/plain");
  EXPECT_EQ(type("application/openmetrics-text;q=0"), "text/plain");
  EXPECT_EQ(type("application/openmetrics-text;q=words"), "text/plain");
}

TEST(Histogram, PutsAValueOnABoundIntoTheBucketBelow) {
  Histogram histogram({1, 2});
  for (const double value : {0.5, 1.0, 1.5, 2.0, 9.0}) histogram.observe(value);
  EXPECT_EQ(histogram.counts, (std::vector<std::uint64_t>{2, 2, 1}));
  EXPECT_EQ(histogram.count(), 5u);
}

TEST(Histogram, BoundsAreTheDecimalNumbersThemselves) {
  EXPECT_EQ(log_bounds(1e-2, 10),
            (std::vector<double>{0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10}));
}

}  // namespace
}  // namespace headsplit::coordinator
