# Counters, clocks, ceilings and preflight.  CUPTI, NVML and cuBLASLt are found at run time.
headsplit_library(headsplit_measure
  SOURCES counter_table.cc cuda_libraries.cc nvml.cc nvml_api.cc profilers.cc
  LIBRARIES headsplit_kernels)
find_path(HEADSPLIT_CUPTI_INCLUDE cupti_range_profiler.h
  HINTS ${CUDAToolkit_INCLUDE_DIRS} /usr/local/cuda/extras/CUPTI/include NO_DEFAULT_PATH)
if(HEADSPLIT_HAS_CUDA AND HEADSPLIT_CUPTI_INCLUDE)
  target_sources(headsplit_measure PRIVATE
    counter_host.cc counter_session.cc counters_cupti.cc cupti_api.cc)
  target_include_directories(headsplit_measure SYSTEM PUBLIC
    ${CUDAToolkit_INCLUDE_DIRS} ${HEADSPLIT_CUPTI_INCLUDE})
else()
  target_sources(headsplit_measure PRIVATE counters_none.cc)
endif()
