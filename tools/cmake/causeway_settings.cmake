# Settings that hold for every target of the tree.
if(DEFINED BUILD_SHARED_LIBS AND NOT BUILD_SHARED_LIBS)
  message(FATAL_ERROR "BUILD_SHARED_LIBS is OFF, and Causeway has no static library: leave it out, or give ON "
                      "(tools/cmake/README.md says why)")
endif()
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS ON) # gnu++20: builtin atomics in the shared C headers
set(CMAKE_C_STANDARD 99)
set(CMAKE_C_EXTENSIONS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "" FORCE)
endif()
option(CAUSEWAY_WERROR "Warnings are errors: for work on the tree, ON in its presets" OFF)
option(CAUSEWAY_REPRODUCIBLE
  "No path of the build is in the result: debugging information names files from the top of the tree on" ON)
# Level 1 has functions and lines, which backtraces and profiles need, and no variables: a quarter of
# the time to compile less.
set(CAUSEWAY_DEBUG_INFO "" CACHE STRING "Level of a plain -g in RelWithDebInfo builds: 1, 2, 3")
foreach(language C CXX)
  set(flags CMAKE_${language}_FLAGS_RELWITHDEBINFO)
  string(REGEX REPLACE "(^| )-g( |$)" "\\1-g${CAUSEWAY_DEBUG_INFO}\\2" ${flags} "${${flags}}")
  # An optimisation that the user's flags name is meant for every build type of ours.
  if(CMAKE_${language}_FLAGS MATCHES "(^| )-O")
    string(REGEX REPLACE "(^| )-O2( |$)" "\\1" ${flags} "${${flags}}")
  endif()
endforeach()

add_compile_options(
  "$<$<COMPILE_LANGUAGE:C,CXX>:-Wall;-Wextra;$<$<BOOL:${CAUSEWAY_WERROR}>:-Werror>;-Wshadow;-Wundef;-Wpointer-arith>"
  "$<$<COMPILE_LANGUAGE:C,CXX>:-fno-strict-aliasing;-fno-semantic-interposition>")
if(CAUSEWAY_REPRODUCIBLE)
  # The last one that fits holds: a build folder within the tree has no name either.
  add_compile_options("-ffile-prefix-map=${CMAKE_SOURCE_DIR}/=" "-ffile-prefix-map=${CMAKE_BINARY_DIR}=.")
  # Run paths are made room for when a program is linked, so the length of the build's path would show.
  set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)
else()
  # __FILE__ says where in the tree, and debuggers find the sources by themselves.
  add_compile_options("$<$<COMPILE_LANGUAGE:C,CXX>:-fmacro-prefix-map=${CMAKE_SOURCE_DIR}/=>")
endif()
# The user's warnings and code generation stand behind ours too, so that they win.
foreach(language C CXX)
  string(REGEX MATCHALL "(^| )-[Wf][^ ]+" flags "${CMAKE_${language}_FLAGS}")
  list(TRANSFORM flags STRIP)
  if(flags)
    add_compile_options("$<$<COMPILE_LANGUAGE:${language}>:${flags}>")
  endif()
endforeach()

set(CAUSEWAY_SANITIZE "" CACHE STRING "Value of -fsanitize= for every target")
if(CAUSEWAY_SANITIZE)
  add_compile_options(-fsanitize=${CAUSEWAY_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${CAUSEWAY_SANITIZE})
  # Programs in C link a library in C++.
  add_link_options("$<$<LINK_LANG_AND_ID:C,Clang>:-fsanitize-link-c++-runtime;-lstdc++>")
  if(CAUSEWAY_SANITIZE MATCHES undefined)
    # The loader calls the entry points of all kinds of plugins by one type, in which a module is `void`; and clients
    # in C may pass any number as an enumeration.
    add_compile_options(-fno-sanitize-recover=undefined $<$<CXX_COMPILER_ID:Clang>:-fno-sanitize=function,enum>)
  endif()
  if(CAUSEWAY_SANITIZE MATCHES thread AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    add_compile_options(-Wno-tsan)  # fences are not modelled; the few there are stand beside atomics
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL Clang AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 20)
    # Names that g++, and later clangs, give themselves.
    foreach(kind address thread)
      string(TOUPPER ${kind} name)
      if(CAUSEWAY_SANITIZE MATCHES ${kind})
        add_compile_definitions(__SANITIZE_${name}__=1)
      endif()
    endforeach()
  endif()
endif()

# The build tree has the shape of the installed one, so that plugins are found the same way.
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
set(CAUSEWAY_PLUGIN_DIR ${CMAKE_INSTALL_LIBDIR}/causeway/2)
set(CMAKE_INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR};$ORIGIN")
set(CMAKE_BUILD_WITH_INSTALL_RPATH OFF)
