# Other machines than this one, by a stand-in for some system calls.
add_executable(machine_test machine_test.cpp ${fault_harness})
target_link_libraries(machine_test PRIVATE GTest::gtest GTest::gtest_main)
target_compile_definitions(machine_test PRIVATE
  CAUSEWAY_COMMAND="$<TARGET_FILE:causeway>" LAUNCH_RANK="$<TARGET_FILE:launch_rank>"
  API_VICTIM="$<TARGET_FILE:api_victim_seq>"
  STANDIN_KERNEL="$<TARGET_FILE:standin_kernel>"
  SPEC_CLIENT_SEGMENT="$<TARGET_FILE:spec_gex_clientseg_seq>")
add_dependencies(machine_test causeway launch_rank api_victim_seq standin_kernel
  spec_gex_clientseg_seq conduit_shm conduit_self)
include(GoogleTest)
causeway_time_limit(machine_limit 250)
gtest_discover_tests(machine_test TEST_PREFIX fault. PROPERTIES LABELS fault TIMEOUT ${machine_limit})
