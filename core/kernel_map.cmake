# cmake -DSOURCE=core -DVERSION=0.1.0 "-DFLAVOR=how it is compiled" -DOUT=causeway.map -P kernel_map.cmake
# Writes the version script of libcauseway.so: causeway.map, and the names of kernel.list under a version that
# no other build has. The version's digest is of every header of the kernel and of how it is compiled: what
# both libraries must agree on. The dynamic linker refuses a libcauseway_gaspi.so of another build by it.
cmake_minimum_required(VERSION 3.25)
file(GLOB_RECURSE headers RELATIVE ${SOURCE}/.. ${SOURCE}/*.h ${SOURCE}/../conduit-api/*.h
  ${SOURCE}/../memkind-api/*.h)
list(SORT headers)
list(FILTER headers EXCLUDE REGEX "^core/(api|launch)/")
set(digests "${FLAVOR}")
foreach(header IN LISTS headers)
  file(SHA256 ${SOURCE}/../${header} digest)
  string(APPEND digests "${digest}")
endforeach()
string(SHA256 digest "${digests}")
string(SUBSTRING ${digest} 0 12 digest)

set(patterns "")
file(STRINGS ${SOURCE}/kernel.list lines REGEX "^  ")
foreach(name IN LISTS lines)
  string(REGEX MATCH "^ +(with ([a-z]+): )?(.*)$" all "${name}")
  set(sanitizer "${CMAKE_MATCH_2}")
  set(name "${CMAKE_MATCH_3}")
  if(sanitizer AND NOT FLAVOR MATCHES " .*${sanitizer}")
    continue()
  endif()
  if(name MATCHES " for |\\(")
    string(REGEX MATCH "^(.* for )?(.*)$" all "${name}")
    string(APPEND patterns "      \"${CMAKE_MATCH_1}causeway::${CMAKE_MATCH_2}\";\n")
  else()
    # A variable, or a function with whatever parameters. A pattern has no tilde.
    string(REPLACE "~" "?" name "${name}")
    string(APPEND patterns "      causeway::${name};\n      causeway::${name}[!a-zA-Z0-9_]*;\n")
  endif()
endforeach()

file(READ ${SOURCE}/causeway.map map)
string(APPEND map "CAUSEWAY_KERNEL_${VERSION}_${digest} {\n  global:\n    extern \"C++\" {\n${patterns}    };\n};\n")
file(WRITE ${OUT} "${map}")
