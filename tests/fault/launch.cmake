# The launcher and the bootstrap, on programs that use nothing else of the core.
add_executable(launch_rank launch_rank.cpp)
target_link_libraries(launch_rank PRIVATE causeway_core)

add_executable(launch_test launch_end_test.cpp launch_harness.cpp launch_io_test.cpp
  launch_kill_test.cpp launch_start_test.cpp)
target_link_libraries(launch_test PRIVATE GTest::gtest GTest::gtest_main)
target_compile_definitions(launch_test PRIVATE
  CAUSEWAY_COMMAND="$<TARGET_FILE:causeway>" LAUNCH_RANK="$<TARGET_FILE:launch_rank>")
add_dependencies(launch_test causeway launch_rank)
include(GoogleTest)
gtest_discover_tests(launch_test TEST_PREFIX fault.launch.
  PROPERTIES LABELS fault TIMEOUT ${fault_limit})
