# What all our own code is compiled with.
set(headsplit_warnings -Wall -Wextra -Wpedantic -Wshadow -Werror
  -Wno-mismatched-new-delete  # g++ 12 reports it falsely on coroutine frames
  -Wno-restrict              # and this one on std::string at -O3
  -Wno-missing-field-initializers)  # designated initialisers leave defaults on purpose
set(headsplit_sanitize_options -fno-omit-frame-pointer -Wno-tsan -Wno-maybe-uninitialized)
if(CMAKE_CXX_COMPILER_ID MATCHES Clang)  # for libFuzzer only; the warnings that count are g++'s
  set(headsplit_warnings -Wall -Wno-unused-command-line-argument)
  set(headsplit_sanitize_options -fno-omit-frame-pointer)
endif()

function(headsplit_compile_options target)
  target_include_directories(${target} PUBLIC ${CMAKE_SOURCE_DIR})
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:${headsplit_warnings}>
    $<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr --diag-suppress=186 -Xcompiler=-Wall,-Wextra>)
  if(HEADSPLIT_SANITIZE)
    target_compile_options(${target} PRIVATE
      $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${HEADSPLIT_SANITIZE};${headsplit_sanitize_options}>)
    target_link_options(${target} PUBLIC -fsanitize=${HEADSPLIT_SANITIZE})
  endif()
endfunction()

# The library whose headers cost a target's files most decides what is precompiled for it.
function(headsplit_share_headers target)
  if(GTest::gtest IN_LIST ARGN OR GTest::gtest_main IN_LIST ARGN)
    headsplit_precompiled(${target} USES GTest::gtest HEADERS <gtest/gtest.h>)
  elseif(CLI11::CLI11 IN_LIST ARGN OR headsplit_cli IN_LIST ARGN)
    headsplit_precompiled(${target} USES CLI11::CLI11 HEADERS <CLI/CLI.hpp>)
  elseif(ARGN)
    headsplit_precompiled(${target})
  endif()
endfunction()

# headsplit_library(NAME SOURCES a.cc b.cc ... LIBRARIES x y): one folder, one target.
function(headsplit_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;LIBRARIES" ${ARGN})
  add_library(${name} STATIC ${arg_SOURCES})
  headsplit_compile_options(${name})
  target_link_libraries(${name} PUBLIC ${arg_LIBRARIES})
  headsplit_share_headers(${name} ${arg_LIBRARIES})
endfunction()

# headsplit_program(NAME SOURCES main.cc LIBRARIES x y): a binary in build/.../bin.
function(headsplit_program name)
  cmake_parse_arguments(arg "" "" "SOURCES;LIBRARIES" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  headsplit_compile_options(${name})
  target_link_libraries(${name} PRIVATE ${arg_LIBRARIES})
  headsplit_share_headers(${name} ${arg_LIBRARIES})
endfunction()

# headsplit_optimise(-O1): a folder whose time is spent elsewhere compiles sooner than at -O3.
macro(headsplit_optimise level)
  set(headsplit_level ${level})
  add_compile_options($<$<AND:$<CONFIG:Release>,$<COMPILE_LANGUAGE:CXX>>:${level}>)
endmacro()

# headsplit_test_library(NAME SOURCES a.cc LIBRARIES x): what several tests share.
function(headsplit_test_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;LIBRARIES" ${ARGN})
  headsplit_library(${name} SOURCES ${arg_SOURCES} LIBRARIES ${arg_LIBRARIES} GTest::gtest)
endfunction()

# For tests of what crashes: it ends by its signal, with sanitizers too.
set(headsplit_crashes_by_signal ASAN_OPTIONS=handle_segv=0 TSAN_OPTIONS=handle_segv=0)

# headsplit_test(NAME SOURCES a_test.cc ... LIBRARIES x LABELS gpu): GoogleTest, one ctest entry a
# program, so that slow parts run side by side and the closing lines stay readable.
function(headsplit_test name)
  cmake_parse_arguments(arg "" "TIMEOUT" "SOURCES;LIBRARIES;LABELS;ENVIRONMENT" ${ARGN})
  headsplit_program(${name} SOURCES ${arg_SOURCES} LIBRARIES ${arg_LIBRARIES} GTest::gtest_main)
  add_test(NAME ${name} COMMAND ${name})
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  if(HEADSPLIT_SANITIZE)
    math(EXPR arg_TIMEOUT "6 * ${arg_TIMEOUT}")
  endif()
  set_tests_properties(${name} PROPERTIES TIMEOUT ${arg_TIMEOUT}
    LABELS "${arg_LABELS}" SKIP_RETURN_CODE 77
    ENVIRONMENT "HEADSPLIT_SOURCE=${CMAKE_SOURCE_DIR};HEADSPLIT_BIN=${CMAKE_BINARY_DIR}/bin;${arg_ENVIRONMENT}")
endfunction()
