# cmake -DNM=nm -DFOLDER=lib/causeway/2 -P plugin_symbols.cmake
# A plugin needs nothing from the core and exports its one init function: anything else would tie
# a plugin to one build of the core, or let two plugins collide.
cmake_minimum_required(VERSION 3.25)
file(GLOB plugins ${FOLDER}/*.so)
if(NOT plugins)
  message(FATAL_ERROR "no plugins in ${FOLDER}")
endif()

foreach(plugin ${plugins})
  get_filename_component(name ${plugin} NAME)
  string(REGEX REPLACE "_.*" "" kind ${name})
  set(init cwy_${kind}_init_v2)

  execute_process(COMMAND ${NM} -D --undefined-only ${plugin} OUTPUT_VARIABLE undefined
                  COMMAND_ERROR_IS_FATAL ANY)
  # Plain and C++ names alike: _ZN8causeway...
  string(REGEX MATCHALL " (cwy|gex|gasnet|gaspi|causeway|_ZN[A-Z]*8causeway)[A-Za-z0-9_]*" taken
         "${undefined}")
  if(taken)
    message(FATAL_ERROR "${name} takes symbols from the core:${taken}\n"
      "Everything a plugin may use comes in cwy_services.")
  endif()

  execute_process(COMMAND ${NM} -D --defined-only ${plugin} OUTPUT_VARIABLE defined
                  COMMAND_ERROR_IS_FATAL ANY)
  # Strong symbols only: the C++ library's templates leave weak ones behind.
  string(REGEX MATCHALL "[0-9a-f]+ [TDBRGSA] [^\n]*" strong "${defined}")
  set(exported "")
  foreach(line ${strong})
    string(REGEX REPLACE "^[0-9a-f]+ . ([^@\n]*).*" "\\1" symbol "${line}")
    if(NOT symbol MATCHES "^__(asan|odr_asan|tsan|ubsan)")
      list(APPEND exported ${symbol})
    endif()
  endforeach()
  if(NOT exported STREQUAL init)
    message(FATAL_ERROR "${name} must export ${init} and nothing else, but exports: ${exported}")
  endif()
endforeach()
