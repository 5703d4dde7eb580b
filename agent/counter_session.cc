#include "agent/counter_session.h"

namespace headsplit::agent {

Result<DriverApi> load_driver() {
  const DynamicLibrary library = TRY(DynamicLibrary::open({"libcuda.so.1"}));
  DriverApi api;
  TRY(library.bind("cuCtxGetCurrent", api.current_context));
  TRY(library.bind("cuCtxSetCurrent", api.make_current));
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
                                            CUcontext context, const CounterPlan& plan) {
  CUPTI_PARAMS(CUpti_RangeProfiler_Enable_Params, parameters);
  parameters.ctx = context;
  CUPTI_TRY(api, enable, &parameters);
  CounterSession session(api, driver, context, plan,
                         Handle(parameters.pRangeProfilerObject, Disable{api.disable}));
  TRY(session.configure());
  return session;
}

CounterSession::~CounterSession() {
  if (!arming_.valid() || arming_.get() != CUPTI_SUCCESS) return;
  CUPTI_PARAMS(CUpti_RangeProfiler_Stop_Params, parameters);
  parameters.pRangeProfilerObject = profiler_.get();
  api_.stop(&parameters);
}

CUptiResult CounterSession::start() const {
  CUPTI_PARAMS(CUpti_RangeProfiler_Start_Params, parameters);
  parameters.pRangeProfilerObject = profiler_.get();
  return api_.start(&parameters);
}

void CounterSession::arm() {
  // Values, not `this`: the session may move meanwhile.
  const auto start_elsewhere = [start = api_.start, make_current = driver_.make_current,
                                context = context_, profiler = profiler_.get()] {
    if (make_current(context) != CUDA_SUCCESS) return CUPTI_ERROR_INVALID_CONTEXT;
    CUPTI_PARAMS(CUpti_RangeProfiler_Start_Params, parameters);
    parameters.pRangeProfilerObject = profiler;
    return start(&parameters);
  };
  if (!arming_.valid()) arming_ = std::async(std::launch::async, start_elsewhere);
}

void CounterSession::settle() {
  if (arming_.valid()) arming_.wait();
}

CUptiResult CounterSession::finish_start() { return arming_.valid() ? arming_.get() : start(); }

Result<std::vector<std::uint8_t>> CounterSession::run(const CountRequest& request) {
  bool all_passes = false;
  for (std::size_t pass = 0; pass < plan_->passes && !all_passes; ++pass) {
    all_passes = TRY(run_pass(request));
  }
  if (!all_passes) {
    return fail(ErrorKind::cuda, "CUPTI wants more than the ", plan_->passes, " passes it planned");
  }
  TRY(decode());
  std::vector<std::uint8_t> counted = counter_data_;
  TRY(clear_data());
  return counted;
}

/// Make space for the values of one range, and set the profiler up to fill it.
Result<void> CounterSession::configure() {
  std::vector<const char*> names = metric_names(plan_->rows);
  CUPTI_PARAMS(CUpti_RangeProfiler_GetCounterDataSize_Params, size);
  size.pRangeProfilerObject = profiler_.get();
  size.pMetricNames = names.data();
  size.numMetrics = names.size();
  size.maxNumOfRanges = 1;
  size.maxNumRangeTreeNodes = 1;
  CUPTI_TRY(api_, counter_data_size, &size);
  counter_data_.assign(size.counterDataSize, 0);
  TRY(clear_data());

  CUPTI_PARAMS(CUpti_RangeProfiler_SetConfig_Params, config);
  config.pRangeProfilerObject = profiler_.get();
  config.configSize = plan_->config_image.size();
  config.pConfig = plan_->config_image.data();
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

Result<void> CounterSession::clear_data() {
  CUPTI_PARAMS(CUpti_RangeProfiler_CounterDataImage_Initialize_Params, parameters);
  parameters.pRangeProfilerObject = profiler_.get();
  parameters.pCounterData = counter_data_.data();
  parameters.counterDataSize = counter_data_.size();
  CUPTI_TRY(api_, counter_data_initialize, &parameters);
  return {};
}

/// One pass.  True when it was the last one.
Result<bool> CounterSession::run_pass(const CountRequest& request) {
  if (request.before) TRY(request.before());
  const CUptiResult started = finish_start();
  if (started != CUPTI_SUCCESS) return cupti_error(api_, "CUPTI start", started);
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

}  // namespace headsplit::agent
