#include "agent/counter_session.h"

namespace headsplit::agent {

Result<DriverApi> load_driver() {
  const DynamicLibrary library = TRY(DynamicLibrary::open({"libcuda.so.1"}));
  DriverApi api;
  TRY(library.bind("cuCtxGetCurrent", api.current_context));
  TRY(library.bind("cuCtxGetDevice", api.current_device));
  TRY(library.bind("cuCtxSynchronize", api.synchronize));
  return api;
}

void CounterSession::Disable::operator()(CUpti_RangeProfiler_Object* profiler) const {
  CUPTI_PARAMS(CUpti_RangeProfiler_Disable_Params, parameters);
  parameters.pRangeProfilerObject = profiler;
  disable(&parameters);
}

Result<CounterSession> CounterSession::open(const CuptiApi& api, const DriverApi& driver,
                                            CUcontext context) {
  CUPTI_PARAMS(CUpti_RangeProfiler_Enable_Params, parameters);
  parameters.ctx = context;
  CUPTI_TRY(api, enable, &parameters);
  return CounterSession(api, driver, Handle(parameters.pRangeProfilerObject, Disable{api.disable}));
}

Result<std::vector<CounterValue>> CounterSession::run(const CounterHost& host,
                                                      const CounterPlan& plan,
                                                      const CountRequest& request) {
  TRY(configure(plan));
  bool all_passes = false;
  for (std::size_t pass = 0; pass < plan.passes && !all_passes; ++pass) {
    all_passes = TRY(run_pass(request));
  }
  if (!all_passes) {
    return fail(ErrorKind::cuda, "CUPTI wants more than the ", plan.passes, " passes it planned");
  }
  TRY(decode());
  const std::vector<double> numbers = TRY(host.evaluate(plan, counter_data_));
  std::vector<CounterValue> values;
  for (std::size_t i = 0; i < numbers.size(); ++i) values.push_back({plan.rows[i], numbers[i]});
  return values;
}

/// Make space for the values of one range, and set the profiler up to fill it.
Result<void> CounterSession::configure(const CounterPlan& plan) {
  std::vector<const char*> names = metric_names(plan.rows);
  CUPTI_PARAMS(CUpti_RangeProfiler_GetCounterDataSize_Params, size);
  size.pRangeProfilerObject = profiler_.get();
  size.pMetricNames = names.data();
  size.numMetrics = names.size();
  size.maxNumOfRanges = 1;
  size.maxNumRangeTreeNodes = 1;
  CUPTI_TRY(api_, counter_data_size, &size);
  counter_data_.assign(size.counterDataSize, 0);

  CUPTI_PARAMS(CUpti_RangeProfiler_CounterDataImage_Initialize_Params, initialize);
  initialize.pRangeProfilerObject = profiler_.get();
  initialize.pCounterData = counter_data_.data();
  initialize.counterDataSize = counter_data_.size();
  CUPTI_TRY(api_, counter_data_initialize, &initialize);

  CUPTI_PARAMS(CUpti_RangeProfiler_SetConfig_Params, config);
  config.pRangeProfilerObject = profiler_.get();
  config.configSize = plan.config_image.size();
  config.pConfig = plan.config_image.data();
  config.counterDataImageSize = counter_data_.size();
  config.pCounterDataImage = counter_data_.data();
  config.range = CUPTI_UserRange;
  config.replayMode = CUPTI_UserReplay;
  config.maxRangesPerPass = 1;
  config.numNestingLevels = 1;
  config.minNestingLevel = 1;
  CUPTI_TRY(api_, set_config, &config);
  return {};
}

/// One pass.  True when it was the last one.
Result<bool> CounterSession::run_pass(const CountRequest& request) {
  if (request.before) TRY(request.before());
  TRY(wait());
  CUPTI_PARAMS(CUpti_RangeProfiler_Start_Params, start);
  start.pRangeProfilerObject = profiler_.get();
  CUPTI_TRY(api_, start, &start);
  const Result<void> launched = launch_in_range(request);
  CUPTI_PARAMS(CUpti_RangeProfiler_Stop_Params, stop);
  stop.pRangeProfilerObject = profiler_.get();
  const CUptiResult stopped = api_.stop(&stop);
  if (!launched) return launched.error();
  if (stopped != CUPTI_SUCCESS) return cupti_error(api_, "CUPTI stop", stopped);
  return stop.isAllPassSubmitted != 0;
}

Result<void> CounterSession::launch_in_range(const CountRequest& request) {
  CUPTI_PARAMS(CUpti_RangeProfiler_PushRange_Params, push);
  push.pRangeProfilerObject = profiler_.get();
  push.pRangeName = "launch";
  CUPTI_TRY(api_, push_range, &push);
  Result<void> launched = request.launch();
  if (launched) launched = wait();
  CUPTI_PARAMS(CUpti_RangeProfiler_PopRange_Params, pop);
  pop.pRangeProfilerObject = profiler_.get();
  const CUptiResult popped = api_.pop_range(&pop);
  if (launched && popped != CUPTI_SUCCESS) return cupti_error(api_, "CUPTI pop_range", popped);
  return launched;
}

Result<void> CounterSession::decode() {
  CUPTI_PARAMS(CUpti_RangeProfiler_DecodeData_Params, parameters);
  parameters.pRangeProfilerObject = profiler_.get();
  CUPTI_TRY(api_, decode, &parameters);
  CUPTI_PARAMS(CUpti_RangeProfiler_GetCounterDataInfo_Params, info);
  info.pCounterDataImage = counter_data_.data();
  info.counterDataImageSize = counter_data_.size();
  CUPTI_TRY(api_, counter_data_info, &info);
  if (parameters.numOfRangeDropped != 0 || info.numTotalRanges != 1) {
    return fail(ErrorKind::cuda, "CUPTI dropped ", parameters.numOfRangeDropped,
                " ranges and kept ", info.numTotalRanges, " instead of 1");
  }
  return {};
}

Result<void> CounterSession::wait() const {
  const CUresult result = driver_.synchronize();
  if (result == CUDA_SUCCESS) return {};
  return fail(ErrorKind::cuda, "cuCtxSynchronize: CUDA error ", static_cast<int>(result));
}

}  // namespace headsplit::agent
