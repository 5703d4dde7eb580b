#include "coordinator/metrics/exposition.h"

#include <cmath>
#include <limits>

#include "core/check.h"

namespace headsplit::coordinator {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

std::vector<MetricFamily> empty_families() {
  std::vector<MetricFamily> families;
  for (const MetricSpec& spec : metric_table()) {
    MetricFamily family;
    family.name = spec.name;
    family.help = spec.help;
    family.type = spec.type;
    families.push_back(std::move(family));
  }
  return families;
}

}  // namespace

const MetricFamily* Exposition::find(std::string_view name) const {
  for (const MetricFamily& family : families) {
    if (family.name == name) return &family;
  }
  return nullptr;
}

ExpositionBuilder::ExpositionBuilder(std::size_t series_max)
    : series_max_(series_max), families_(empty_families()) {}

ClientMetric* ExpositionBuilder::next(Metric metric, const Labels& labels, std::size_t series) {
  const MetricSpec& spec = spec_of(metric);
  CHECK(labels.size() == spec.labels.size());
  if (series_ + series > series_max_) {
    omitted_ += series;
    return nullptr;
  }
  series_ += series;
  ClientMetric& added = families_[std::size_t(metric)].metric.emplace_back();
  added.label.reserve(labels.size());
  for (std::size_t i = 0; i < labels.size(); ++i) {
    added.label.push_back({std::string(spec.labels[i]), clipped(labels[i], kLabelBytesMax)});
  }
  return &added;
}

void ExpositionBuilder::add(Metric metric, const Labels& labels, std::optional<double> value,
                            const std::optional<Exemplar>& exemplar) {
  if (!value || !std::isfinite(*value)) return;
  ClientMetric* added = next(metric, labels, 1);
  if (added == nullptr) return;
  const MetricSpec& spec = spec_of(metric);
  CHECK(spec.type != MetricType::Histogram);
  if (spec.type == MetricType::Gauge) {
    added->gauge.value = *value;
    return;
  }
  added->counter.value = *value;
  const std::size_t position = families_[std::size_t(metric)].metric.size() - 1;
  if (exemplar) exemplars_[{std::string(spec.name), position, 0}] = *exemplar;
}

void ExpositionBuilder::add(Metric metric, const Labels& labels, const Histogram& histogram) {
  const MetricSpec& spec = spec_of(metric);
  CHECK(spec.type == MetricType::Histogram);
  const std::size_t buckets = histogram.counts.size();
  ClientMetric* added = next(metric, labels, buckets + 2);
  if (added == nullptr) return;
  const std::size_t position = families_[std::size_t(metric)].metric.size() - 1;
  std::uint64_t cumulative = 0;
  added->histogram.bucket.reserve(buckets);
  for (std::size_t i = 0; i < buckets; ++i) {
    cumulative += histogram.counts[i];
    const double bound = i < histogram.upper_bounds.size()
                             ? histogram.upper_bounds[i]
                             : std::numeric_limits<double>::infinity();
    added->histogram.bucket.push_back({cumulative, bound});
    if (const auto& exemplar = histogram.exemplars[i]) {
      exemplars_[{std::string(spec.name), position, i}] = *exemplar;
    }
  }
  added->histogram.sample_count = cumulative;
  added->histogram.sample_sum = histogram.sum;
}

Exposition ExpositionBuilder::finish(std::uint64_t omitted_before) {
  const auto omitted_ever = static_cast<double>(omitted_before + omitted_);
  series_max_ = series_ + 1;
  add(Metric::series_omitted, {}, omitted_ever);
  Exposition exposition;
  for (MetricFamily& family : families_) {
    if (!family.metric.empty()) exposition.families.push_back(std::move(family));
  }
  exposition.exemplars = std::move(exemplars_);
  exposition.series = series_;
  exposition.omitted = omitted_;
  return exposition;
}

std::string clipped(const std::string& text, std::size_t bytes_max) {
  if (text.size() <= bytes_max) return text;
  std::size_t end = bytes_max;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end);
}

}  // namespace headsplit::coordinator
