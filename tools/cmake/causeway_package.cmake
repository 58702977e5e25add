# What `cmake --install` leaves: headers, CMake package, pkg-config file, configurations and the
# texts a plugin author needs. Plugins, the command and the conformance suite install themselves.
# The tree may be moved after installation, so nothing here may hold an absolute path.
include(CMakePackageConfigHelpers)

foreach(dir INCLUDEDIR LIBDIR DATADIR LIBEXECDIR)
  if(IS_ABSOLUTE "${CMAKE_INSTALL_${dir}}")
    message(FATAL_ERROR "CMAKE_INSTALL_${dir} is ${CMAKE_INSTALL_${dir}}: give it relative to the "
                        "prefix, because the installed tree must stay movable")
  endif()
endforeach()
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Causeway)
set(data_dir ${CMAKE_INSTALL_DATADIR}/causeway)
set(doc_dir ${CMAKE_INSTALL_DATADIR}/doc/causeway)

# ---- headers of clients, and of collective plugins (the other two rooms install theirs) ----
install(DIRECTORY core/include/ core/collective-api/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT devel
  FILES_MATCHING PATTERN "*.h" PATTERN "GASPI*.h" EXCLUDE PATTERN abi EXCLUDE)

# ---- targets: Causeway::causeway to link, Causeway::plugin_headers to compile against ----
set_target_properties(causeway_plugin_headers PROPERTIES EXPORT_NAME plugin_headers)
add_library(Causeway::plugin_headers ALIAS causeway_plugin_headers)
install(TARGETS causeway_plugin_headers EXPORT CausewayTargets)
set_target_properties(causeway_lib PROPERTIES EXPORT_NAME causeway)
add_library(Causeway::causeway ALIAS causeway_lib)
install(TARGETS causeway_lib EXPORT CausewayTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  COMPONENT runtime NAMELINK_COMPONENT devel)
install(EXPORT CausewayTargets NAMESPACE Causeway:: DESTINATION ${package_dir} COMPONENT devel)

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/CausewayConfig.cmake.in
  ${CMAKE_BINARY_DIR}/package/CausewayConfig.cmake
  INSTALL_DESTINATION ${package_dir} PATH_VARS CMAKE_INSTALL_BINDIR)
# Before 1.0 a minor version may change what a client sees.
write_basic_package_version_file(${CMAKE_BINARY_DIR}/package/CausewayConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/package/CausewayConfig.cmake
  ${CMAKE_BINARY_DIR}/package/CausewayConfigVersion.cmake DESTINATION ${package_dir} COMPONENT devel)

# ---- pkg-config: the prefix is found from where the file lies ----
file(RELATIVE_PATH prefix_from_pc /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
string(REGEX REPLACE "/$" "" prefix_from_pc ${prefix_from_pc})
configure_file(${CMAKE_CURRENT_LIST_DIR}/causeway.pc.in
  ${CMAKE_BINARY_DIR}/package/causeway.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/package/causeway.pc
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT devel)

if(CAUSEWAY_GASPI)
  include(causeway_gaspi_package)
endif()
if(gpi2 IN_LIST CAUSEWAY_IDENTITY_SET)
  include(causeway_gpi2)  # and under the name of GPI-2
endif()

# ---- configurations, the example conduit, the texts ----
install(DIRECTORY configs/ DESTINATION ${data_dir}/configs COMPONENT command
  FILES_MATCHING PATTERN "*.yaml" PATTERN "*.md")
install(DIRECTORY plugins/example/ DESTINATION ${data_dir}/example COMPONENT devel
  PATTERN "build*" EXCLUDE)
# Conduits that stand in front of others: also examples, which build from here.
foreach(which trace chaos)
  install(DIRECTORY plugins/conduit/${which} DESTINATION ${data_dir}/interposition COMPONENT devel
    PATTERN "build*" EXCLUDE)
endforeach()
foreach(which module_table plugin_services wrapping)
  install(FILES plugins/conduit/common/${which}.h DESTINATION ${data_dir}/interposition/common
    COMPONENT devel)
endforeach()
install(FILES plugins/common/guard.h plugins/common/plugin_error.h DESTINATION ${data_dir}/common
  COMPONENT devel)
install(FILES LICENSE DESTINATION ${doc_dir} COMPONENT doc)
include(causeway_texts)
include(causeway_manual)

# ---- what was installed, and nothing else, is taken away ----
add_custom_target(uninstall COMMAND ${CMAKE_COMMAND} -DBUILD=${CMAKE_BINARY_DIR}
    -P ${CMAKE_CURRENT_LIST_DIR}/causeway_uninstall.cmake
  COMMENT "Removing what cmake --install wrote" USES_TERMINAL VERBATIM)

# ---- packages of Debian, whose layout CMake has for this prefix only ----
if(CMAKE_INSTALL_PREFIX STREQUAL "/usr")
  include(causeway_debian)
endif()
