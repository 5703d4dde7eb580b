# Less work for the compiler: headers that most of our files parse, parsed once for all targets that are compiled alike.  For
# builds from nothing (CI, images): ccache then finds less, and a missing #include goes unnoticed.
#   HEADSPLIT_PRECOMPILE=1 ./dev build         or -DHEADSPLIT_PRECOMPILE=ON
if(DEFINED ENV{HEADSPLIT_PRECOMPILE})
  set(headsplit_precompile_default $ENV{HEADSPLIT_PRECOMPILE})
else()
  set(headsplit_precompile_default OFF)
endif()
set(HEADSPLIT_PRECOMPILE ${headsplit_precompile_default} CACHE BOOL "Precompile common headers")

set(headsplit_common_headers <boost/describe.hpp> <boost/json.hpp> <algorithm> <chrono> <cmath>
  <filesystem> <fstream> <functional> <map> <memory> <optional> <set> <sstream> <string> <vector>)

# Code of system headers loses its place, and with it the silence about it.
set(headsplit_false_warnings -Wno-stringop-overflow -Wno-array-bounds -Wno-stringop-overread
  -Wno-maybe-uninitialized -Wno-subobject-linkage -Wno-error=invalid-pch)

# And several files of a target are compiled as one, but for targets whose files use one name of
# their own for different things.
set(headsplit_apart cli_model_test coordinator_scheduler_test headsplit_agent headsplit_cli
  headsplit_cli_answers headsplit_cli_model headsplit_coordinator headsplit_dashboards
  headsplit_kernels headsplit_run_rank headsplit_server kernels_test split_plan_test tp_cost_test
  tp_model_test)

# headsplit_precompiled(TARGET USES LIBRARY HEADERS <h>..): common headers and HEADERS for TARGET,
# shared with targets of the same kind, optimisation and USES.
function(headsplit_precompiled target)
  if(NOT HEADSPLIT_PRECOMPILE)
    return()
  endif()
  cmake_parse_arguments(arg "" "USES" "HEADERS" ${ARGN})
  get_target_property(kind ${target} TYPE)
  string(MAKE_C_IDENTIFIER "headsplit_precompiled${headsplit_level}_${kind}_${arg_USES}" shared)
  if(NOT TARGET ${shared})
    file(WRITE ${CMAKE_BINARY_DIR}/precompiled/${shared}.cc "")
    add_library(${shared} OBJECT ${CMAKE_BINARY_DIR}/precompiled/${shared}.cc)
    if(kind STREQUAL EXECUTABLE)  # where CMake has -fPIE, not -fPIC
      set_target_properties(${shared} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
      target_compile_options(${shared} PRIVATE -fPIE)
    endif()
    headsplit_compile_options(${shared})
    target_compile_options(${shared} PRIVATE ${headsplit_false_warnings})
    target_link_libraries(${shared} PRIVATE headsplit_boost ${arg_USES})
    target_precompile_headers(${shared} PRIVATE ${headsplit_common_headers} ${arg_HEADERS})
  endif()
  target_precompile_headers(${target} REUSE_FROM ${shared})
  if(NOT target IN_LIST headsplit_apart)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON)
  endif()
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:${headsplit_false_warnings}>)
endfunction()
