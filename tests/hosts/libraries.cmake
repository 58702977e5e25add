# The networks' own libraries, without ours: what a conduit relies on, or refuses because of it.
if(TARGET PkgConfig::LIBFABRIC)
  foreach(program atomics close)
    add_executable(ofi_${program} libraries/ofi_${program}.cpp)
    target_link_libraries(ofi_${program} PRIVATE PkgConfig::LIBFABRIC)
  endforeach()

  # ofi_library_test(<program> <provider, with _ for ;ofi_> [known])
  function(ofi_library_test program layer)
    string(REPLACE "_" "\;ofi_" provider ${layer})
    add_test(NAME hosts.library.${program}.${layer} COMMAND ${program} ${provider} ${ARGN})
    # A report of libfabric's PSM, which would be left in this directory when the provider crashes.
    set_tests_properties(hosts.library.${program}.${layer} PROPERTIES LABELS hosts TIMEOUT 120
      SKIP_RETURN_CODE 77 ENVIRONMENT IPATH_NO_BACKTRACE=1)
  endfunction()
  ofi_library_test(ofi_atomics tcp_rxm)
  ofi_library_test(ofi_atomics sockets)
  ofi_library_test(ofi_atomics udp_rxd known)
  ofi_library_test(ofi_close tcp_rxm)  # over verbs: hosts.rdma.library_close
endif()

if(TARGET PkgConfig::UCX)
  add_executable(ucx_faults libraries/ucx_faults.cpp)
  target_link_libraries(ucx_faults PRIVATE PkgConfig::UCX ${CMAKE_DL_LIBS})
  # Its `send` is to be found by UCX.
  set_target_properties(ucx_faults PROPERTIES ENABLE_EXPORTS ON)
  foreach(run close arm "introduce;known")  # over RDMA: hosts.rdma.library_ucx
    list(GET run 0 what)
    list(REMOVE_AT run 0)
    add_test(NAME hosts.library.ucx_${what}.tcp COMMAND ucx_faults ${what} tcp,self ${run})
    set_tests_properties(hosts.library.ucx_${what}.tcp PROPERTIES LABELS hosts TIMEOUT 120
      SKIP_RETURN_CODE 77)
  endforeach()
endif()
