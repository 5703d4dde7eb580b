#pragma once

#include <string>

#include "coordinator/metrics/exposition.h"

namespace headsplit::coordinator {

/// The text format of OpenMetrics 1.0, which has what Prometheus' own text format has not: units
/// and exemplars.  Source: the OpenMetrics specification, section "Text format".
std::string openmetrics_text(const Exposition& exposition);

/// Prometheus' text format 0.0.4, by prometheus-cpp.
std::string prometheus_text(const Exposition& exposition);

/// What a scrape is answered with.
struct MetricsReply {
  std::string content_type;
  std::string body;
};

/// In the format that the request's Accept header prefers: OpenMetrics when it is asked for, else
/// Prometheus' text.
MetricsReply metrics_reply(const Exposition& exposition, const std::string& accept);

}  // namespace headsplit::coordinator
