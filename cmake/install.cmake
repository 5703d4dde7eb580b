# cmake --install, and what CPack makes of it: ./dev package.
include(GNUInstallDirs)
# Tests are in no package, so packages do not wait for them.
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)

set(manual ${CMAKE_BINARY_DIR}/headsplit.1)
set(completions ${CMAKE_BINARY_DIR}/completions)
file(MAKE_DIRECTORY ${completions})
# Both come from the option tables of the program itself.
add_custom_command(
  OUTPUT ${manual} ${completions}/headsplit ${completions}/_headsplit ${completions}/headsplit.fish
  COMMAND headsplit manual > ${manual}
  COMMAND headsplit completion bash > ${completions}/headsplit
  COMMAND headsplit completion zsh > ${completions}/_headsplit
  COMMAND headsplit completion fish > ${completions}/headsplit.fish
  DEPENDS headsplit VERBATIM)
add_custom_target(headsplit_manual ALL DEPENDS ${manual})

install(TARGETS headsplit headsplit-agent headsplit-coordinator RUNTIME)
install(DIRECTORY configs DESTINATION ${CMAKE_INSTALL_DATADIR}/headsplit)
install(DIRECTORY dashboards DESTINATION ${CMAKE_INSTALL_DATADIR}/headsplit)
install(DIRECTORY deploy DESTINATION ${CMAKE_INSTALL_DATADIR}/headsplit USE_SOURCE_PERMISSIONS
  PATTERN try.sh EXCLUDE PATTERN chroot.sh EXCLUDE)
install(FILES include/headsplit_kernel.h TYPE INCLUDE)
install(FILES README.md LICENSE TYPE DOC)
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES ${manual} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${completions}/headsplit
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${completions}/_headsplit DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)
install(FILES ${completions}/headsplit.fish
  DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)

set(CPACK_PACKAGE_NAME headsplit)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY
  "Measures what head tensor parallelism does to Multi-head Latent Attention")
set(CPACK_PACKAGE_CONTACT "the headsplit developers <headsplit@localhost>")
set(CPACK_RESOURCE_FILE_LICENSE ${CMAKE_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_GENERATOR DEB)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
include(CPack)
