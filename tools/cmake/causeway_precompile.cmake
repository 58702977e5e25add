# causeway_precompile(<target>... [HEADERS <header>...]): headers of the C++ library that most files include, and
# these, are compiled once for each target, which takes a third off the time to compile. Every file still includes
# what it uses.
option(CAUSEWAY_PRECOMPILED_HEADERS "Compile headers of other projects once for each target" ON)

# ccache keeps objects that were compiled so only where it is told that time stamps do not matter, and where the
# preprocessor's output names the precompiled header.
if(CAUSEWAY_PRECOMPILED_HEADERS AND CMAKE_CXX_COMPILER_LAUNCHER MATCHES "(^|/)ccache$")
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros
    ${CMAKE_CXX_COMPILER_LAUNCHER})
endif()

function(causeway_precompile)
  cmake_parse_arguments(P "" "" HEADERS ${ARGN})
  if(NOT CAUSEWAY_PRECOMPILED_HEADERS)
    return()
  endif()
  set(headers <algorithm> <array> <atomic> <cstddef> <cstdint> <cstring> <functional> <map> <memory> <mutex>
    <optional> <string> <string_view> <utility> <vector> ${P_HEADERS})
  list(TRANSFORM headers REPLACE "<(.+)>" "$<$<COMPILE_LANGUAGE:CXX>:<\\1$<ANGLE-R>>")
  foreach(target ${P_UNPARSED_ARGUMENTS})
    target_precompile_headers(${target} PRIVATE ${headers})
    causeway_name_precompiled(${target})
  endforeach()
endfunction()

# causeway_share_precompiled(<target> <from>): those of another target, which has the same options.
function(causeway_share_precompiled target from)
  if(CAUSEWAY_PRECOMPILED_HEADERS)
    target_precompile_headers(${target} REUSE_FROM ${from})
    causeway_name_precompiled(${target})
  endif()
endfunction()

function(causeway_name_precompiled target)
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    # What GCC 12 wrongly suspects inside std::string counts as the headers' own only where they are read as text.
    target_compile_options(${target} PRIVATE
      "$<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess;-Wno-array-bounds;-Wno-restrict>")
  endif()
endfunction()
