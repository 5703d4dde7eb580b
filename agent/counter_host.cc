#include "agent/counter_host.h"

namespace headsplit::agent {

Result<CounterHost> CounterHost::open(const CuptiApi& api, const std::string& chip,
                                      std::span<const std::uint8_t> availability) {
  CUPTI_PARAMS(CUpti_Profiler_Host_Initialize_Params, parameters);
  parameters.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
  parameters.pChipName = chip.c_str();
  parameters.pCounterAvailabilityImage = availability.empty() ? nullptr : availability.data();
  CUPTI_TRY(api, host_initialize, &parameters);
  return CounterHost(api, Handle(parameters.pHostObject, Close{api.host_deinitialize}));
}

Result<CounterPlan> CounterHost::plan(const std::vector<CounterRow>& rows) {
  CounterPlan plan;
  for (const CounterRow& row : rows) {
    const char* name = row.metric.data();
    CUPTI_PARAMS(CUpti_Profiler_Host_ConfigAddMetrics_Params, add);
    add.pHostObject = host_.get();
    add.ppMetricNames = &name;
    add.numMetrics = 1;
    const bool known = api_.host_add_metrics(&add) == CUPTI_SUCCESS;
    (known ? plan.rows : plan.missing).push_back(row);
  }
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
