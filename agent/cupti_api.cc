#include "agent/cupti_api.h"

#include <cupti_version.h>

#include "core/cuda_libraries.h"

namespace headsplit::agent {

namespace {

// CUPTI counted its versions from 1 to 28 in CUDA 12; since 13.0 the number is major, minor, patch.
constexpr int kCuptiMajor = CUPTI_API_VERSION >= 10000 ? CUPTI_API_VERSION / 10000 : 12;

Result<void> bind_session(const DynamicLibrary& library, CuptiApi& api) {
  TRY(library.bind("cuptiRangeProfilerEnable", api.enable));
  TRY(library.bind("cuptiRangeProfilerDisable", api.disable));
  TRY(library.bind("cuptiRangeProfilerSetConfig", api.set_config));
  TRY(library.bind("cuptiRangeProfilerGetCounterDataSize", api.counter_data_size));
  TRY(library.bind("cuptiRangeProfilerCounterDataImageInitialize", api.counter_data_initialize));
  TRY(library.bind("cuptiRangeProfilerStart", api.start));
  TRY(library.bind("cuptiRangeProfilerStop", api.stop));
  TRY(library.bind("cuptiRangeProfilerPushRange", api.push_range));
  TRY(library.bind("cuptiRangeProfilerPopRange", api.pop_range));
  TRY(library.bind("cuptiRangeProfilerDecodeData", api.decode));
  TRY(library.bind("cuptiRangeProfilerGetCounterDataInfo", api.counter_data_info));
  return {};
}

Result<void> bind_host(const DynamicLibrary& library, CuptiApi& api) {
  TRY(library.bind("cuptiProfilerHostInitialize", api.host_initialize));
  TRY(library.bind("cuptiProfilerHostDeinitialize", api.host_deinitialize));
  TRY(library.bind("cuptiProfilerHostGetSupportedChips", api.host_supported_chips));
  TRY(library.bind("cuptiProfilerHostConfigAddMetrics", api.host_add_metrics));
  TRY(library.bind("cuptiProfilerHostGetConfigImageSize", api.host_config_image_size));
  TRY(library.bind("cuptiProfilerHostGetConfigImage", api.host_config_image));
  TRY(library.bind("cuptiProfilerHostGetNumOfPasses", api.host_pass_count));
  TRY(library.bind("cuptiProfilerHostEvaluateToGpuValues", api.host_evaluate));
  return {};
}

}  // namespace

Result<CuptiApi> load_cupti() {
  const DynamicLibrary library =
      TRY(DynamicLibrary::open(cuda_library_names("cupti", kCuptiMajor)));
  CuptiApi api;
  TRY(library.bind("cuptiGetResultString", api.result_string));
  TRY(library.bind("cuptiProfilerInitialize", api.initialize));
  TRY(library.bind("cuptiProfilerDeInitialize", api.deinitialize));
  TRY(library.bind("cuptiDeviceGetChipName", api.chip_name));
  TRY(library.bind("cuptiProfilerDeviceSupported", api.device_supported));
  TRY(library.bind("cuptiProfilerGetCounterAvailability", api.counter_availability));
  TRY(bind_host(library, api));
  TRY(bind_session(library, api));
  return api;
}

Error cupti_error(const CuptiApi& api, const char* call, CUptiResult result) {
  const char* name = nullptr;
  api.result_string(result, &name);
  return fail(ErrorKind::cuda, call, ": ", name != nullptr ? name : "unknown result", " (",
              static_cast<int>(result), ")");
}

}  // namespace headsplit::agent
