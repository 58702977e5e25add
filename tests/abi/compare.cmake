# cmake -DDUMP=abi_dump -DWHICH=conduit -DCOMMITTED=v1.0.txt -DHEADERS=a.h;b.h -P compare.cmake
# Compares the layout of this build with the committed one, and the list of what is dumped with
# the headers, so that nothing new escapes the comparison.
cmake_minimum_required(VERSION 3.25)
execute_process(COMMAND ${DUMP} ${WHICH} OUTPUT_VARIABLE now RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "${DUMP} ${WHICH} failed: ${status}")
endif()

if(now MATCHES "HOLE[^\n]*")
  message(FATAL_ERROR "${CMAKE_MATCH_0}\n"
    "Add the member to tests/abi/dump_*.cpp, or replace padding by a `reserved` member.")
endif()

foreach(header ${HEADERS})
  file(READ ${header} text)
  # Constants, structures and function types that the header defines.
  string(REGEX MATCHALL "CWY[A-Z]*_[A-Z0-9_]+ = " constants "${text}")
  string(REGEX MATCHALL "typedef struct [a-z_]+ {" structs "${text}")
  string(REGEX MATCHALL "typedef [a-z0-9_]+ \\(\\*[a-z_]+\\)" types "${text}")
  string(REGEX MATCHALL "#define CWY[A-Z]*_[A-Z0-9_]+ \\(" masks "${text}")
  foreach(item ${constants} ${masks} ${structs} ${types})
    string(REGEX REPLACE "typedef struct |typedef [a-z0-9_]+ \\(\\*|#define | = $|\\)$| {$| \\($" "" name "${item}")
    if(NOT now MATCHES "(constant|struct|type) ${name}[ :]")
      message(FATAL_ERROR "${name} of ${header} is not dumped: add it to tests/abi/dump_*.cpp")
    endif()
  endforeach()
endforeach()

file(READ ${COMMITTED} before)
if(NOT now STREQUAL before)
  file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/${WHICH}.now.txt "${now}")
  execute_process(COMMAND diff -u ${COMMITTED} ${CMAKE_CURRENT_BINARY_DIR}/${WHICH}.now.txt)
  message(FATAL_ERROR
    "The ${WHICH} interface differs from ${COMMITTED}, which plugins in the field rely on.\n"
    "Within a major version structures are append-only: never move, resize, retype or remove a "
    "member, never renumber a constant. If you only appended: raise CWY_PLUGIN_MINOR, leave the "
    "committed file alone, write the new layout to a new file v<major>.<minor>.txt beside it "
    "(${DUMP} ${WHICH}) and point tests/abi/CMakeLists.txt at that file; abi.append_only then "
    "checks it against every older one.")
endif()
