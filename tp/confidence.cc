#include "tp/confidence.h"

#include <cmath>

namespace headsplit::tp {
namespace {

std::string percent(double fraction) { return str(std::round(fraction * 1000) / 10, " %"); }

std::string name_of(const Candidate& c) { return c.layout + " with " + c.kernel; }

Confidence confidence_of(double lead_us, double error_us) {
  if (lead_us >= 2 * error_us) return Confidence::high;
  return lead_us >= error_us ? Confidence::medium : Confidence::low;
}

}  // namespace

double step_error(const Candidate& c) {
  const double collective_error = c.collective_source == Provenance::measured
                                      ? kMeasuredCollectiveError
                                      : kPublishedCollectiveError;
  const double layer_us = c.attention_us + c.projection_us + c.collective_us;
  const double error_us =
      std::hypot(c.attention_error * c.attention_us, kProjectionError * c.projection_us,
                 collective_error * c.collective_us);
  return error_us / layer_us;
}

Sureness sureness_of(const std::vector<Candidate>& ranking) {
  if (ranking.empty() || !ranking.front().fits) return {.reason = "no layout fits the memory"};
  const Candidate& first = ranking.front();
  const std::string own =
      str("step of ", name_of(first), " is expected within ", percent(step_error(first)));
  if (ranking.size() < 2 || !ranking[1].fits) {
    return {.confidence = Confidence::high, .reason = "no other layout fits; " + own};
  }
  const Candidate& second = ranking[1];
  const double lead_us = second.step_time_us - first.step_time_us;
  const double error_us =
      std::hypot(step_error(first) * first.step_time_us, step_error(second) * second.step_time_us);
  Sureness sure{.confidence = confidence_of(lead_us, error_us),
                .margin = lead_us / first.step_time_us,
                .runner_up = name_of(second)};
  sure.reason = str(own, "; ", sure.runner_up, " takes ", percent(*sure.margin),
                    " longer, and the expected error of that difference is ",
                    percent(error_us / first.step_time_us));
  return sure;
}

}  // namespace headsplit::tp
