# causeway_add_plugin(KIND conduit NAME shm SOURCES a.cpp ... [LIBRARIES lib ...] [NO_INSTALL])
# Builds <kind>_<name>.so beside the library, as it is installed. A plugin sees the plugin
# headers only and links no core symbol; -z defs makes a stray one a link error.
# Target causeway_plugins builds every plugin that is installed. A plugin for one network or one kind of
# device is a component of its own, <kind>-<name>; the others belong to the library's.
add_custom_target(causeway_plugins)
function(causeway_add_plugin)
  cmake_parse_arguments(P "NO_INSTALL" "KIND;NAME" "SOURCES;LIBRARIES" ${ARGN})
  set(target ${P_KIND}_${P_NAME})
  add_library(${target} MODULE ${P_SOURCES})
  target_link_libraries(${target} PRIVATE causeway_plugin_headers ${P_LIBRARIES})
  if(NOT CAUSEWAY_SANITIZE) # sanitizer runtimes are resolved from the executable
    target_link_options(${target} PRIVATE -Wl,-z,defs)
  endif()
  set_target_properties(${target} PROPERTIES PREFIX "" OUTPUT_NAME ${target}
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib/causeway/2)
  causeway_unite(${target})
  if(NOT P_NO_INSTALL)
    set(component runtime)
    if(P_NAME MATCHES "^(ofi|ucx|verbs|eth|cuda|hip|ze)$")
      set(component ${P_KIND}-${P_NAME})
    endif()
    install(TARGETS ${target} LIBRARY DESTINATION ${CAUSEWAY_PLUGIN_DIR} COMPONENT ${component})
    add_dependencies(causeway_plugins ${target})
  endif()
endfunction()

# causeway_library(<PART> <PREFIX> <module> <version> <Debian's package>): PkgConfig::<PREFIX>, where pkg-config
# knows the library; otherwise the part lacks it.
macro(causeway_library part prefix module version package)
  pkg_check_modules(${prefix} QUIET IMPORTED_TARGET GLOBAL ${module}>=${version})
  if(${prefix}_FOUND)
    causeway_has(${part} "${module} ${${prefix}_VERSION}")
  else()
    causeway_lacks(${part} "${module} ${version} or newer was not found (Debian: ${package})")
  endif()
endmacro()
