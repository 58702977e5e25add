# Finds GPI-2 as its users look for it: GASPI.h and libGPI2 below GPI2_ROOT or where pkg-config says, and
# what GPI2.pc says to define. Target GPI2::GPI2.
find_package(PkgConfig QUIET)
if(PKG_CONFIG_FOUND)
  pkg_check_modules(PC_GPI2 QUIET GPI2)
endif()
find_path(GPI2_INCLUDE_DIR GASPI.h HINTS ${GPI2_ROOT} ${PC_GPI2_INCLUDE_DIRS} PATH_SUFFIXES include)
find_library(GPI2_LIBRARY NAMES GPI2 HINTS ${GPI2_ROOT} ${PC_GPI2_LIBRARY_DIRS} PATH_SUFFIXES lib lib64)
find_program(GPI2_RUN gaspi_run HINTS ${GPI2_ROOT} ${PC_GPI2_PREFIX} PATH_SUFFIXES bin)
# Its version is read from the header, because older installations have no package file.
if(GPI2_INCLUDE_DIR)
  file(STRINGS ${GPI2_INCLUDE_DIR}/GASPI.h lines REGEX "^#define +GASPI_(MAJOR|MINOR)_VERSION")
  string(REGEX REPLACE ".*MAJOR_VERSION +([0-9]+).*MINOR_VERSION +([0-9]+).*" "\\1.\\2"
    GPI2_GASPI_VERSION "${lines}")
endif()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(GPI2 REQUIRED_VARS GPI2_LIBRARY GPI2_INCLUDE_DIR GPI2_RUN
  VERSION_VAR GPI2_GASPI_VERSION)
if(GPI2_FOUND AND NOT TARGET GPI2::GPI2)
  add_library(GPI2::GPI2 UNKNOWN IMPORTED)
  set_target_properties(GPI2::GPI2 PROPERTIES IMPORTED_LOCATION ${GPI2_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${GPI2_INCLUDE_DIR}
    INTERFACE_COMPILE_OPTIONS "${PC_GPI2_CFLAGS_OTHER}")
endif()
