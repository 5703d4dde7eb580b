# Plug-ins: the worked example, and one library for each way to misbehave.
set(plugin_folder ${CMAKE_BINARY_DIR}/plugins)
add_library(naive_mla SHARED ${CMAKE_SOURCE_DIR}/examples/plugin/naive_mla.cc)
target_include_directories(naive_mla PRIVATE ${CMAKE_SOURCE_DIR}/include)
set(plugins naive_mla)
foreach(fault LIES WRITES_NOTHING CRASHES THROWS REFUSES FAILS_TO_PREPARE WRONG_WORK WRONG_ABI
        NO_LAUNCH WRONG_OPERATION NO_SYMBOL)
  string(TOLOWER ${fault} plugin)
  add_library(plugin_${plugin} SHARED misbehaving_plugin.cc)
  set_target_properties(plugin_${plugin} PROPERTIES OUTPUT_NAME ${plugin})
  target_compile_definitions(plugin_${plugin} PRIVATE ${fault})
  list(APPEND plugins plugin_${plugin})
endforeach()
foreach(plugin ${plugins})
  headsplit_compile_options(${plugin})
  set_target_properties(${plugin} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${plugin_folder})
endforeach()

headsplit_test(plugin_test SOURCES plugin_test.cc LIBRARIES headsplit_kernels
  ENVIRONMENT ${headsplit_crashes_by_signal})
target_compile_definitions(plugin_test PRIVATE PLUGIN_FOLDER="${plugin_folder}")
add_dependencies(plugin_test ${plugins})

# One CUDA plug-in, copied for each fault: its file's name says which.
if(HEADSPLIT_HAS_CUDA)
  add_library(faulty_cuda SHARED misbehaving_cuda_plugin.cu)
  set_target_properties(faulty_cuda PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${plugin_folder}
    CUDA_ARCHITECTURES 80)
  target_include_directories(faulty_cuda PRIVATE ${CMAKE_SOURCE_DIR} ${CMAKE_SOURCE_DIR}/include)
  target_link_libraries(faulty_cuda PRIVATE CUDA::cudart_static)
  foreach(fault cheats writes_nan writes_wrong strays)
    add_custom_command(TARGET faulty_cuda POST_BUILD COMMAND ${CMAKE_COMMAND} -E copy
      $<TARGET_FILE:faulty_cuda> ${plugin_folder}/libcuda_${fault}.so)
  endforeach()
endif()
