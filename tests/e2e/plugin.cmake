headsplit_test(e2e_plugin_test SOURCES plugin_test.cc LIBRARIES headsplit_e2e_command TIMEOUT 120
  ENVIRONMENT ${headsplit_crashes_by_signal})
target_compile_definitions(e2e_plugin_test PRIVATE PLUGIN_FOLDER="${CMAKE_BINARY_DIR}/plugins")
add_dependencies(e2e_plugin_test headsplit headsplit-agent headsplit-coordinator naive_mla plugin_lies plugin_crashes
  plugin_wrong_abi)
