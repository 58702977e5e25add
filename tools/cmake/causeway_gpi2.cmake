# What builds of GASPI programs ask for by the name of GPI-2: GPI2.pc, -lGPI2, -lGPI2-dbg, in lib and,
# where GPI-2 installs them, in lib64. Its flags take the field's forms of procedures, and bring Fortran's
# modules with what they need.
set(name GPI2)
set(gaspi_cflags " -DGASPI_GPI2_SOURCE")
set(gaspi_libs "-lGPI2 -Wl,-rpath,\${libdir}")
if(CAUSEWAY_FORTRAN)
  string(APPEND gaspi_cflags " -I\${libdir}/causeway/fortran")
  string(PREPEND gaspi_libs "-lcauseway_gaspi_fortran ")
endif()

# install_gpi2(<folder> <way from there to the libraries> <way from its pkgconfig to the prefix>)
function(install_gpi2 folder to_libraries prefix_from_pc)
  set(package ${CMAKE_BINARY_DIR}/package/gpi2/${folder})
  configure_file(${PROJECT_SOURCE_DIR}/tools/cmake/causeway-gaspi.pc.in
    ${package}/pkgconfig/GPI2.pc @ONLY)
  foreach(library libGPI2.so libGPI2-dbg.so)
    file(CREATE_LINK ${to_libraries}libcauseway_gaspi.so ${package}/${library} SYMBOLIC)
  endforeach()
  install(DIRECTORY ${package}/ DESTINATION ${folder} COMPONENT identity-gpi2)
endfunction()

install_gpi2(${CMAKE_INSTALL_LIBDIR} "" ${prefix_from_pc})
# Links in a folder, and no link to one: where the prefix is the system's, lib64 is there. A folder within lib
# is one that the system's compiler searches by itself (Debian's lib/x86_64-linux-gnu).
if(NOT CMAKE_INSTALL_LIBDIR MATCHES "^lib64$|/")
  file(RELATIVE_PATH to_libraries /prefix/lib64 /prefix/${CMAKE_INSTALL_LIBDIR})
  install_gpi2(lib64 ${to_libraries}/ ../..)
endif()
