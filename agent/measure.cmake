# Counters, clocks, ceilings and preflight.  CUPTI, NVML, cuBLASLt and OpenBLAS are found at run
# time: a binary built with CUDA starts on a machine without a driver.
headsplit_library(headsplit_measure
  SOURCES ceilings.cc ceilings_cpu.cc counter_table.cc device_place.cc device_watch.cc nvml.cc
          nvml_api.cc
          preflight_checks.cc preflight_facts.cc profilers.cc
  LIBRARIES headsplit_device_cpu headsplit_kernels)

if(HEADSPLIT_HAS_CUDA)
  target_sources(headsplit_measure PRIVATE ceiling_kernels.cu ceilings_cuda.cc cublaslt.cc
    preflight_cuda.cc)
  target_link_libraries(headsplit_measure PUBLIC CUDA::cudart_static)
else()
  target_sources(headsplit_measure PRIVATE ceilings_no_cuda.cc preflight_no_cuda.cc)
endif()

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
