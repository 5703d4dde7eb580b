#pragma once

#include <cuda.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_result.h>
#include <cupti_target.h>

#include "core/dynamic_library.h"

namespace headsplit::agent {

/// The functions of CUPTI that we call, found at run time.  Only the range profiler and the host
/// API that plans and evaluates for it; the older cuptiProfiler* session calls are deprecated.
struct CuptiApi {
  decltype(&cuptiGetResultString) result_string = nullptr;
  decltype(&cuptiProfilerInitialize) initialize = nullptr;
  decltype(&cuptiProfilerDeInitialize) deinitialize = nullptr;
  decltype(&cuptiDeviceGetChipName) chip_name = nullptr;
  decltype(&cuptiProfilerDeviceSupported) device_supported = nullptr;
  decltype(&cuptiProfilerGetCounterAvailability) counter_availability = nullptr;

  decltype(&cuptiProfilerHostInitialize) host_initialize = nullptr;
  decltype(&cuptiProfilerHostDeinitialize) host_deinitialize = nullptr;
  decltype(&cuptiProfilerHostGetSupportedChips) host_supported_chips = nullptr;
  decltype(&cuptiProfilerHostConfigAddMetrics) host_add_metrics = nullptr;
  decltype(&cuptiProfilerHostGetConfigImageSize) host_config_image_size = nullptr;
  decltype(&cuptiProfilerHostGetConfigImage) host_config_image = nullptr;
  decltype(&cuptiProfilerHostGetNumOfPasses) host_pass_count = nullptr;
  decltype(&cuptiProfilerHostEvaluateToGpuValues) host_evaluate = nullptr;

  decltype(&cuptiRangeProfilerEnable) enable = nullptr;
  decltype(&cuptiRangeProfilerDisable) disable = nullptr;
  decltype(&cuptiRangeProfilerSetConfig) set_config = nullptr;
  decltype(&cuptiRangeProfilerGetCounterDataSize) counter_data_size = nullptr;
  decltype(&cuptiRangeProfilerCounterDataImageInitialize) counter_data_initialize = nullptr;
  decltype(&cuptiRangeProfilerStart) start = nullptr;
  decltype(&cuptiRangeProfilerStop) stop = nullptr;
  decltype(&cuptiRangeProfilerPushRange) push_range = nullptr;
  decltype(&cuptiRangeProfilerPopRange) pop_range = nullptr;
  decltype(&cuptiRangeProfilerDecodeData) decode = nullptr;
  decltype(&cuptiRangeProfilerGetCounterDataInfo) counter_data_info = nullptr;
};

/// Fails: io (no CUPTI 12.6 or later; says where the loader looked).
Result<CuptiApi> load_cupti();

/// A failed call as an error: what was called, and CUPTI's name of the result.
Error cupti_error(const CuptiApi& api, const char* call, CUptiResult result);

/// A parameter struct with its size filled in, as every call wants it.
#define CUPTI_PARAMS(Type, name) \
  Type name { Type##_STRUCT_SIZE }

/// Return from the enclosing function when a call of `api` does not succeed.
#define CUPTI_TRY(api, function, parameters)                                          \
  do {                                                                                \
    const CUptiResult cupti_result_ = (api).function(parameters);                     \
    if (cupti_result_ != CUPTI_SUCCESS) {                                             \
      return ::headsplit::agent::cupti_error(api, "CUPTI " #function, cupti_result_); \
    }                                                                                 \
  } while (false)

}  // namespace headsplit::agent
