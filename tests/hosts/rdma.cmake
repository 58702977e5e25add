# RDMA where there is no adapter: an emulated guest with soft-RoCE devices, booted once for all cases.
add_executable(silent_target silent_target.c)
target_compile_definitions(silent_target PRIVATE GASNET_SEQ=1)
target_link_libraries(silent_target PRIVATE causeway_lib)

set(rdma_log ${CMAKE_CURRENT_BINARY_DIR}/rdma-guest.log)
add_test(NAME hosts.rdma.guest COMMAND ${CMAKE_CURRENT_LIST_DIR}/rdma/run_guest
  ${rdma_log} ${CMAKE_BINARY_DIR} ${CMAKE_SOURCE_DIR})
set_tests_properties(hosts.rdma.guest PROPERTIES LABELS "hosts;vm" TIMEOUT 1900
  FIXTURES_SETUP rdma_guest PROCESSORS 2)
foreach(case devices conformance_verbs library_close library_ucx ofi_verbs ofi_rxm ucx_rc
    spec_ofi_verbs spec_ucx_rc two_adapters spec silent_target dmabuf gaspi gaspi_death wordfreq death
    device_lost locked_memory reasons)
  add_test(NAME hosts.rdma.${case}
    COMMAND ${CMAKE_CURRENT_LIST_DIR}/rdma/report_case ${rdma_log} ${case})
  set_tests_properties(hosts.rdma.${case} PROPERTIES LABELS "hosts;vm" TIMEOUT 30
    FIXTURES_REQUIRED rdma_guest SKIP_RETURN_CODE 77)
endforeach()

# Whole suites over every network of the guest, more of broken adapters, and other numbers of ranks:
# minutes each, in a guest of their own.
set(whole completion_queue port_down spec_three_ranks gaspi_one_rank gaspi_three_ranks gaspi_four_ranks
  gaspi_seven_ranks)
foreach(network verbs ofi_verbs ofi_rxm ucx_rc)
  list(APPEND whole conformance_${network} spec_all_${network}_seq spec_all_${network}_par)
endforeach()
foreach(case ${whole})
  add_test(NAME hosts.rdma.whole.${case}
    COMMAND ${CMAKE_CURRENT_LIST_DIR}/rdma/guest --timeout 2700 --
            ${CMAKE_CURRENT_LIST_DIR}/rdma/cases ${CMAKE_BINARY_DIR} ${CMAKE_SOURCE_DIR} ${case}
    WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  set_tests_properties(hosts.rdma.whole.${case} PROPERTIES LABELS soak TIMEOUT 2800 PROCESSORS 2
    SKIP_RETURN_CODE 77)
endforeach()
