# Revision of the sources, "+" when the tree differs from it; "unknown" outside a repository, unless
# told: -DHEADSPLIT_REVISION=1a2b3c4, for builds of an exported tree.
find_package(Git QUIET)
if(DEFINED CACHE{HEADSPLIT_REVISION})
  set(HEADSPLIT_REVISION $CACHE{HEADSPLIT_REVISION})
elseif(GIT_FOUND)
  set(HEADSPLIT_REVISION unknown)
  execute_process(COMMAND ${GIT_EXECUTABLE} describe --always --dirty=+ --abbrev=10
    WORKING_DIRECTORY ${CMAKE_SOURCE_DIR} OUTPUT_VARIABLE described
    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  if(failed EQUAL 0)
    set(HEADSPLIT_REVISION ${described})
  endif()
  # Configure again when a commit is made, so that binaries name the right revision.
  if(EXISTS ${CMAKE_SOURCE_DIR}/.git/logs/HEAD)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/.git/logs/HEAD)
  endif()
endif()
if(NOT HEADSPLIT_REVISION)
  set(HEADSPLIT_REVISION unknown)
endif()
