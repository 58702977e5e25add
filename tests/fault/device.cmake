# Deaths in the middle of transfers with device memory.
add_executable(device_victim device_victim.cpp $<TARGET_OBJECTS:bench_device_access>)
target_compile_definitions(device_victim PRIVATE GASNET_SEQ=1)
target_link_libraries(device_victim PRIVATE causeway_tool_headers)
target_link_libraries(device_victim PRIVATE causeway_lib ${CMAKE_DL_LIBS})

add_executable(fault_device_test device_test.cpp ${fault_api_job})
target_link_libraries(fault_device_test PRIVATE GTest::gtest GTest::gtest_main)
target_compile_definitions(fault_device_test PRIVATE
  CAUSEWAY_COMMAND="$<TARGET_FILE:causeway>"
  CAUSEWAY_SOURCE_DIR="${CMAKE_SOURCE_DIR}"
  LAUNCH_RANK="$<TARGET_FILE:device_victim>"
  API_VICTIM="$<TARGET_FILE:device_victim>"
  API_VICTIM_PAR="$<TARGET_FILE:device_victim>"
  DEVICE_VICTIM="$<TARGET_FILE:device_victim>"
  STANDIN_CUDA="${CMAKE_BINARY_DIR}/tests/standins/lib/cuda"
  $<$<TARGET_EXISTS:conduit_ofi>:HAVE_OFI> $<$<TARGET_EXISTS:conduit_ucx>:HAVE_UCX>)
add_dependencies(fault_device_test causeway causeway_lib device_victim)
gtest_discover_tests(fault_device_test TEST_PREFIX fault.device. PROPERTIES LABELS fault TIMEOUT 120)
