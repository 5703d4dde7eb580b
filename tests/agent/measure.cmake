headsplit_test(counters_test
  SOURCES counter_table_test.cc counters_test.cc profilers_test.cc
  LIBRARIES headsplit_measure)
if(HEADSPLIT_HAS_CUDA AND HEADSPLIT_CUPTI_INCLUDE)
  target_sources(counters_test PRIVATE counter_host_test.cc)
endif()

# The management library without a driver: a shared library of ours with the same functions.
foreach(fake fake_nvml fake_nvml_old)
  add_library(${fake} SHARED fake_nvml.cc)
  headsplit_compile_options(${fake})
  target_link_libraries(${fake} PRIVATE headsplit_boost)
endforeach()
target_compile_definitions(fake_nvml_old PRIVATE FAKE_NVML_OLD)
headsplit_test(nvml_test SOURCES device_place_test.cc device_watch_test.cc nvml_test.cc LIBRARIES headsplit_measure)
target_compile_definitions(nvml_test PRIVATE
  FAKE_NVML="$<TARGET_FILE:fake_nvml>" FAKE_NVML_OLD="$<TARGET_FILE:fake_nvml_old>")
add_dependencies(nvml_test fake_nvml fake_nvml_old)

headsplit_test(ceilings_test SOURCES ceilings_test.cc LIBRARIES headsplit_measure)

headsplit_test(preflight_test SOURCES preflight_test.cc LIBRARIES headsplit_measure)

if(HEADSPLIT_HAS_CUDA AND HEADSPLIT_CUPTI_INCLUDE)
  headsplit_test(counters_gpu_test SOURCES counters_gpu_test.cc counters_gpu_kernels.cu
    LIBRARIES headsplit_measure LABELS gpu)
endif()
