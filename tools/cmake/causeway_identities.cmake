# Which names of other projects are installed: what builds for GASNet's conduits, for GASNet's tools and
# for GPI-2 look for. They collide with packages of those projects, so a packager may leave out each.
# Sets CAUSEWAY_IDENTITY_SET. What is installed for a name has the component identity-<name> too.
set(known smp udp mpi ibv ofi ucx tools gpi2)
list(JOIN known ", " known_text)
set(CAUSEWAY_IDENTITIES all CACHE STRING
  "Names of other projects to install: all, none, or some of ${known_text}")
string(REGEX REPLACE "[, ]+" ";" CAUSEWAY_IDENTITY_SET "${CAUSEWAY_IDENTITIES}")
if(CAUSEWAY_IDENTITY_SET STREQUAL "all")
  set(CAUSEWAY_IDENTITY_SET ${known})
elseif(CAUSEWAY_IDENTITY_SET STREQUAL "none")
  set(CAUSEWAY_IDENTITY_SET "")
endif()
foreach(name ${CAUSEWAY_IDENTITY_SET})
  if(NOT name IN_LIST known)
    message(FATAL_ERROR "CAUSEWAY_IDENTITIES names '${name}': give all, none, or some of ${known_text}")
  endif()
endforeach()
