# The launcher and the bootstrap, on programs that use nothing else of the core.
add_executable(launch_rank launch_rank.cpp)
target_link_libraries(launch_rank PRIVATE causeway_core)
add_executable(launch_relay launch_relay.cpp)
target_link_libraries(launch_relay PRIVATE causeway_core causeway_launch)

add_executable(launch_test launch_end_test.cpp launch_fork_test.cpp ${fault_harness}
  launch_hosts_test.cpp launch_io_test.cpp launch_kill_test.cpp launch_options_test.cpp
  launch_start_test.cpp)
target_link_libraries(launch_test PRIVATE GTest::gtest GTest::gtest_main)
target_compile_definitions(launch_test PRIVATE
  CAUSEWAY_COMMAND="$<TARGET_FILE:causeway>" LAUNCH_RANK="$<TARGET_FILE:launch_rank>"
  LAUNCH_RELAY="$<TARGET_FILE:launch_relay>")
add_dependencies(launch_test causeway launch_rank launch_relay)
include(GoogleTest)
gtest_discover_tests(launch_test TEST_PREFIX fault.launch. TEST_FILTER -Soak.*:Many.*
  PROPERTIES LABELS fault TIMEOUT ${fault_limit})
# Hundreds of processes that start at once would take the time that others are measured by.
gtest_discover_tests(launch_test TEST_PREFIX fault.launch. TEST_FILTER Many.* TEST_LIST launch_many
  PROPERTIES LABELS fault TIMEOUT ${fault_limit} RUN_SERIAL TRUE)
# TEST_SEED and TEST_STARTS choose which random starts there are.
gtest_discover_tests(launch_test TEST_PREFIX fault.launch. TEST_FILTER Soak.* TEST_LIST launch_soak
  PROPERTIES LABELS soak TIMEOUT 14400)
add_test(NAME fault.launch.debug_tmux COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/debug_tmux.sh $<TARGET_FILE:causeway>
  $<TARGET_FILE:hello>)
set_tests_properties(fault.launch.debug_tmux PROPERTIES LABELS fault TIMEOUT ${fault_limit} SKIP_RETURN_CODE 77)
