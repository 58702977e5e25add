# The networks' own libraries, without ours: what a conduit relies on, or refuses because of it.
if(TARGET PkgConfig::LIBFABRIC)
  add_executable(ofi_atomics libraries/ofi_atomics.cpp)
  target_link_libraries(ofi_atomics PRIVATE PkgConfig::LIBFABRIC)
  foreach(layer tcp_rxm sockets udp_rxd)
    string(REPLACE "_" "\;ofi_" provider ${layer})
    set(known)
    if(layer STREQUAL udp_rxd)
      set(known known)
    endif()
    add_test(NAME hosts.library.ofi_atomics.${layer} COMMAND ofi_atomics ${provider} ${known})
    # A report of libfabric's PSM, which would be left in this directory when the provider crashes.
    set_tests_properties(hosts.library.ofi_atomics.${layer} PROPERTIES LABELS hosts TIMEOUT 120
      SKIP_RETURN_CODE 77 ENVIRONMENT IPATH_NO_BACKTRACE=1)
  endforeach()
endif()
