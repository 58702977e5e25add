# Settings that hold for every target of the tree.
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
# Level 1 has functions and lines, which backtraces and profiles need, and no variables: a quarter of
# the time to compile less.
set(CAUSEWAY_DEBUG_INFO "" CACHE STRING "Level of debugging information in RelWithDebInfo builds: 1, 2, 3")
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g${CAUSEWAY_DEBUG_INFO} -DNDEBUG")
set(CMAKE_C_FLAGS_RELWITHDEBINFO "-O2 -g${CAUSEWAY_DEBUG_INFO} -DNDEBUG")

# __FILE__ says where in the tree, not where on the builder's disk.
add_compile_options("$<$<COMPILE_LANGUAGE:C,CXX>:-Wall;-Wextra;-Werror;-Wshadow;-Wundef;-Wpointer-arith>"
  "$<$<COMPILE_LANGUAGE:C,CXX>:-fno-strict-aliasing;-fno-semantic-interposition>"
  "$<$<COMPILE_LANGUAGE:C,CXX>:-fmacro-prefix-map=${CMAKE_SOURCE_DIR}/=>")

set(CAUSEWAY_SANITIZE "" CACHE STRING "Value of -fsanitize= for every target")
if(CAUSEWAY_SANITIZE)
  add_compile_options(-fsanitize=${CAUSEWAY_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${CAUSEWAY_SANITIZE})
  if(CAUSEWAY_SANITIZE MATCHES undefined)
    add_compile_options(-fno-sanitize-recover=undefined)
  endif()
  if(CAUSEWAY_SANITIZE MATCHES thread AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    add_compile_options(-Wno-tsan)  # fences are not modelled; the few there are stand beside atomics
  endif()
endif()

# The build tree has the shape of the installed one, so that plugins are found the same way.
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
set(CAUSEWAY_PLUGIN_DIR ${CMAKE_INSTALL_LIBDIR}/causeway/2)
set(CMAKE_INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR};$ORIGIN")
set(CMAKE_BUILD_WITH_INSTALL_RPATH OFF)
