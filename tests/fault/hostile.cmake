# Other users of the machine. The ports that they see are of one job, so that no other test is met.
add_executable(intruder intruder.cpp)
target_link_libraries(intruder PRIVATE PkgConfig::PMIX)
include(GoogleTest)
add_executable(hostile_test hostile_test.cpp ${fault_harness})
target_link_libraries(hostile_test PRIVATE GTest::gtest GTest::gtest_main)
target_compile_definitions(hostile_test PRIVATE LAUNCH_RANK="$<TARGET_FILE:launch_rank>"
  INTRUDER="$<TARGET_FILE:intruder>")
add_dependencies(hostile_test causeway launch_rank intruder)
gtest_discover_tests(hostile_test TEST_PREFIX fault.hostile.
  PROPERTIES LABELS fault TIMEOUT ${fault_limit})
