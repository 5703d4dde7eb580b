# Kernels of other projects, behind include/headsplit_kernel.h.
target_sources(headsplit_kernels PRIVATE
  plugin.cc plugin_file.cc plugin_inputs.cc plugin_kernel.cc plugin_memory.cc)
if(HEADSPLIT_HAS_CUDA)
  target_sources(headsplit_kernels PRIVATE plugin_memory_cuda.cc)
  target_link_libraries(headsplit_kernels PUBLIC CUDA::cudart_static)
else()
  target_sources(headsplit_kernels PRIVATE plugin_memory_no_cuda.cc)
endif()
