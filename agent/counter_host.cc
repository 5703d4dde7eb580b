#include "agent/counter_host.h"

namespace headsplit::agent {

Result<CounterHost> CounterHost::open(const CuptiApi& api, const std::string& chip,
                                      std::span<const std::uint8_t> availability) {
  std::vector<std::uint8_t> image(availability.begin(), availability.end());
  CUPTI_PARAMS(CUpti_Profiler_Host_Initialize_Params, parameters);
  parameters.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
  parameters.pChipName = chip.c_str();
  parameters.pCounterAvailabilityImage = image.empty() ? nullptr : image.data();
  CUPTI_TRY(api, host_initialize, &parameters);
  return CounterHost(api, chip, std::move(image),
                     Handle(parameters.pHostObject, Close{api.host_deinitialize}));
}

CUptiResult CounterHost::add_metrics(std::span<const CounterRow> rows) const {
  std::vector<const char*> names = metric_names(rows);
  CUPTI_PARAMS(CUpti_Profiler_Host_ConfigAddMetrics_Params, parameters);
  parameters.pHostObject = host_.get();
  parameters.ppMetricNames = names.data();
  parameters.numMetrics = names.size();
  return api_.host_add_metrics(&parameters);
}

/// Metrics must be added all at once: one by one, each gets passes of its own.  A refused name
/// spoils the host object, so after a refusal each name is tried on an object of its own.
Result<void> CounterHost::add_known(const std::vector<CounterRow>& rows, CounterPlan& plan) {
  plan.rows = rows;
  if (rows.empty() || add_metrics(rows) == CUPTI_SUCCESS) return {};
  plan.rows.clear();
  for (const CounterRow& row : rows) {
    const CounterHost trial = TRY(open(api_, chip_, availability_));
    const bool known = trial.add_metrics(std::span(&row, 1)) == CUPTI_SUCCESS;
    (known ? plan.rows : plan.missing).push_back(row);
  }
  *this = TRY(open(api_, chip_, availability_));
  if (plan.rows.empty()) return {};
  const CUptiResult added = add_metrics(plan.rows);
  if (added != CUPTI_SUCCESS) return cupti_error(api_, "CUPTI host_add_metrics", added);
  return {};
}

Result<CounterPlan> CounterHost::plan(const std::vector<CounterRow>& rows) {
  CounterPlan plan;
  TRY(add_known(rows, plan));
  if (plan.rows.empty()) return plan;

  CUPTI_PARAMS(CUpti_Profiler_Host_GetConfigImageSize_Params, size);
  size.pHostObject = host_.get();
  CUPTI_TRY(api_, host_config_image_size, &size);
  plan.config_image.resize(size.configImageSize);

  CUPTI_PARAMS(CUpti_Profiler_Host_GetConfigImage_Params, image);
  image.pHostObject = host_.get();
  image.pConfigImage = plan.config_image.data();
  image.configImageSize = plan.config_image.size();
  CUPTI_TRY(api_, host_config_image, &image);

  CUPTI_PARAMS(CUpti_Profiler_Host_GetNumOfPasses_Params, passes);
  passes.pConfigImage = plan.config_image.data();
  passes.configImageSize = plan.config_image.size();
  CUPTI_TRY(api_, host_pass_count, &passes);
  plan.passes = passes.numOfPasses;
  return plan;
}

Result<std::vector<double>> CounterHost::evaluate(
    const CounterPlan& plan, std::span<const std::uint8_t> counter_data) const {
  std::vector<const char*> names = metric_names(plan.rows);
  std::vector<double> values(names.size());
  CUPTI_PARAMS(CUpti_Profiler_Host_EvaluateToGpuValues_Params, parameters);
  parameters.pHostObject = host_.get();
  parameters.pCounterDataImage = counter_data.data();
  parameters.counterDataImageSize = counter_data.size();
  parameters.rangeIndex = 0;
  parameters.ppMetricNames = names.data();
  parameters.numMetrics = names.size();
  parameters.pMetricValues = values.data();
  CUPTI_TRY(api_, host_evaluate, &parameters);
  return values;
}

void CounterHost::Close::operator()(CUpti_Profiler_Host_Object* host) const {
  CUPTI_PARAMS(CUpti_Profiler_Host_Deinitialize_Params, parameters);
  parameters.pHostObject = host;
  deinitialize(&parameters);
}

Result<std::vector<std::string>> known_chips(const CuptiApi& api) {
  CUPTI_PARAMS(CUpti_Profiler_Host_GetSupportedChips_Params, parameters);
  CUPTI_TRY(api, host_supported_chips, &parameters);
  return std::vector<std::string>(parameters.ppChipNames,
                                  parameters.ppChipNames + parameters.numChips);
}

std::vector<const char*> metric_names(std::span<const CounterRow> rows) {
  std::vector<const char*> names;
  for (const CounterRow& row : rows) names.push_back(row.metric.data());  // literals: end in 0
  return names;
}

}  // namespace headsplit::agent
