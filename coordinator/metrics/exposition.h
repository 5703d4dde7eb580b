#pragma once

#include <prometheus/metric_family.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "coordinator/metrics/histogram.h"
#include "coordinator/metrics/metric_table.h"

namespace headsplit::coordinator {

/// Where an exemplar belongs: a metric of a family, and there a bucket of its histogram.
struct ExemplarPlace {
  std::string family;
  std::size_t metric = 0;
  std::size_t bucket = 0;  ///< 0 for a counter

  auto operator<=>(const ExemplarPlace&) const = default;
};

/// One scrape, before it is text.  Made anew each time, so that what is gone has no series.
struct Exposition {
  std::vector<prometheus::MetricFamily> families;  ///< in the order of the table; none is empty
  std::map<ExemplarPlace, Exemplar> exemplars;
  std::size_t series = 0;
  std::size_t omitted = 0;  ///< series beyond the cap

  /// The family of that name, or null.
  const prometheus::MetricFamily* find(std::string_view name) const;
};

/// Collects series under the rules of the table, up to a cap: what is added first stays.
class ExpositionBuilder {
 public:
  using Labels = std::vector<std::string>;

  explicit ExpositionBuilder(std::size_t series_max);

  /// labels: values in the order of the table; clipped to kLabelBytesMax.  Absent and non-finite
  /// values give no series: nothing unknown is 0.
  void add(Metric metric, const Labels& labels, std::optional<double> value,
           const std::optional<Exemplar>& exemplar = {});
  void add(Metric metric, const Labels& labels, const Histogram& histogram);

  /// Adds the count of what the cap left out, now and in earlier scrapes, beyond the cap.
  Exposition finish(std::uint64_t omitted_before);

  static constexpr std::size_t kLabelBytesMax = 128;

 private:
  prometheus::ClientMetric* next(Metric metric, const Labels& labels, std::size_t series);

  std::size_t series_max_;
  std::size_t series_ = 0;
  std::size_t omitted_ = 0;
  std::vector<prometheus::MetricFamily> families_;  ///< by Metric
  std::map<ExemplarPlace, Exemplar> exemplars_;
};

/// As much of a UTF-8 text as fits, whole characters only.
std::string clipped(const std::string& text, std::size_t bytes_max);

}  // namespace headsplit::coordinator
