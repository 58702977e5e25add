# The client headers under every language level and both compilers: what a client's build system
# would do, without our own flags. One test per (compiler, level, file).
set(headers_flags -Wall -Wextra -Werror -pedantic -fsyntax-only -I${CMAKE_SOURCE_DIR}/core/include)

function(header_test compiler language level file)
  get_filename_component(tool ${compiler} NAME)
  get_filename_component(stem ${file} NAME_WE)
  add_test(NAME spec.gex.headers.${stem}.${tool}.${level}
    COMMAND ${compiler} -x ${language} -std=${level} ${headers_flags} ${ARGN}
            ${CMAKE_CURRENT_SOURCE_DIR}/headers/${file})
  set_tests_properties(spec.gex.headers.${stem}.${tool}.${level} PROPERTIES
    LABELS spec TIMEOUT 60)
endfunction()

find_program(HEADER_GCC gcc)
find_program(HEADER_GXX g++)
find_program(HEADER_CLANG NAMES clang clang-14)
find_program(HEADER_CLANGXX NAMES clang++ clang++-14)
foreach(compiler HEADER_GCC HEADER_CLANG)
  if(${compiler})
    foreach(level c99 c11 gnu99)
      header_test(${${compiler}} c ${level} alone.c -DGASNET_SEQ)
      header_test(${${compiler}} c ${level} atomics.c -DGASNET_PAR)
      header_test(${${compiler}} c ${level} forward_only.c)
      header_test(${${compiler}} c ${level} late.c -DGASNET_PAR)
      header_test(${${compiler}} c ${level} negotiated.c -DGASNET_PAR)
      header_test(${${compiler}} c ${level} vis.c -DGASNET_SEQ)
      header_test(${${compiler}} c ${level} coll.c -DGASNET_SEQ)
      header_test(${${compiler}} c ${level} values.c -DGASNET_SEQ)
    endforeach()
  endif()
endforeach()
foreach(compiler HEADER_GXX HEADER_CLANGXX)
  if(${compiler})
    foreach(level c++11 c++14 c++17 c++20)
      header_test(${${compiler}} c++ ${level} alone.c -DGASNET_SEQ=1)
      header_test(${${compiler}} c++ ${level} atomics.c -DGASNET_PAR=1)
      header_test(${${compiler}} c++ ${level} forward_only.c)
      header_test(${${compiler}} c++ ${level} late.c -DGASNET_PAR)
      header_test(${${compiler}} c++ ${level} negotiated.c -DGASNET_PAR)
      header_test(${${compiler}} c++ ${level} vis.c -DGASNET_SEQ)
      header_test(${${compiler}} c++ ${level} coll.c -DGASNET_SEQ)
      header_test(${${compiler}} c++ ${level} values.c -DGASNET_PAR)
    endforeach()
  endif()
endforeach()
foreach(bad no_mode two_modes)
  if(HEADER_GCC)
    add_test(NAME spec.gex.headers.${bad}
      COMMAND ${HEADER_GCC} -std=c99 -fsyntax-only -I${CMAKE_SOURCE_DIR}/core/include
              ${CMAKE_CURRENT_SOURCE_DIR}/headers/${bad}.c)
    # The message is the test: it names what to define.
    set_tests_properties(spec.gex.headers.${bad} PROPERTIES LABELS spec TIMEOUT 60
      PASS_REGULAR_EXPRESSION "error.*define exactly one of GASNET_SEQ, GASNET_PARSYNC, GASNET_PAR")
  endif()
endforeach()
