# GASPI's part of causeway_package.cmake: libcauseway_gaspi, its headers, and its package files.
set_target_properties(causeway_gaspi_lib PROPERTIES EXPORT_NAME gaspi INSTALL_RPATH "$ORIGIN")
add_library(Causeway::gaspi ALIAS causeway_gaspi_lib)
install(TARGETS causeway_gaspi_lib EXPORT CausewayGaspiTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  COMPONENT gaspi NAMELINK_COMPONENT gaspi-devel)
install(DIRECTORY core/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT gaspi-devel
  FILES_MATCHING PATTERN "GASPI*.h" PATTERN causeway EXCLUDE)
install(FILES ${CMAKE_BINARY_DIR}/gaspi/PGASPI.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT gaspi-devel)
install(EXPORT CausewayGaspiTargets NAMESPACE Causeway:: DESTINATION ${package_dir} COMPONENT gaspi-devel)

set(name causeway-gaspi)
set(gaspi_cflags "")
set(gaspi_libs "-lcauseway_gaspi")
set(files causeway-gaspi)
if(CAUSEWAY_FORTRAN)
  install(EXPORT CausewayFortranTargets NAMESPACE Causeway:: DESTINATION ${package_dir} COMPONENT gaspi-devel)
  list(APPEND files causeway-gaspi-fortran)
endif()
foreach(file ${files})
  configure_file(${CMAKE_CURRENT_LIST_DIR}/${file}.pc.in ${CMAKE_BINARY_DIR}/package/${file}.pc @ONLY)
  install(FILES ${CMAKE_BINARY_DIR}/package/${file}.pc
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT gaspi-devel)
endforeach()
