# causeway(1) and a page for each of its commands, and completions for bash, zsh and fish: tools/manual makes
# them from what the built command says of itself.
if(CMAKE_CROSSCOMPILING AND NOT CMAKE_CROSSCOMPILING_EMULATOR)
  message(STATUS "Manual pages of section 1, completions: none, because the command that is built cannot run here "
                 "(CMAKE_CROSSCOMPILING_EMULATOR)")
  return()
endif()
if(CAUSEWAY_SANITIZE)
  return() # no product
endif()
set(manual ${CMAKE_BINARY_DIR}/manual)
set(manual_sources ${PROJECT_SOURCE_DIR}/tools/manual)
file(GLOB manual_parts CONFIGURE_DEPENDS ${manual_sources}/*)
set(page "*.1")
set(compress "")
if(CMAKE_INSTALL_PREFIX STREQUAL "/usr") # Debian has pages compressed
  set(page "*.1.gz")
  set(compress COMMAND sh -c "gzip -9nkf man1/*.1")
endif()
file(MAKE_DIRECTORY ${manual})
add_custom_command(OUTPUT ${manual}/made
  COMMAND sh ${manual_sources}/make.sh ${manual} ${PROJECT_VERSION} ${PROJECT_SOURCE_DIR}/configs/README.md
    ${CMAKE_CROSSCOMPILING_EMULATOR} $<TARGET_FILE:causeway>
  ${compress}
  COMMAND ${CMAKE_COMMAND} -E touch ${manual}/made
  DEPENDS causeway ${manual_parts} ${PROJECT_SOURCE_DIR}/configs/README.md WORKING_DIRECTORY ${manual}
  COMMENT "Writing causeway(1) and its kin, and completions" VERBATIM)
add_custom_target(causeway_manual ALL DEPENDS ${manual}/made)
install(DIRECTORY ${manual}/man1/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT command
  FILES_MATCHING PATTERN ${page})
install(FILES ${manual}/bash/causeway DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
  COMPONENT command)
install(FILES ${manual}/zsh/_causeway DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions
  COMPONENT command)
install(FILES ${manual}/fish/causeway.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d
  COMPONENT command)
