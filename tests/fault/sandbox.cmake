# Containers and sandboxes, by namespaces and filters of system calls.
add_executable(deny deny.c)
add_executable(sandbox_test sandbox_test.cpp ${fault_harness})
target_link_libraries(sandbox_test PRIVATE GTest::gtest GTest::gtest_main)
target_compile_definitions(sandbox_test PRIVATE LAUNCH_RANK="$<TARGET_FILE:launch_rank>"
  CAUSEWAY_SOURCE_DIR="${CMAKE_SOURCE_DIR}" SPEC_PROGRAM="$<TARGET_FILE:spec_gex_par>" DENY="$<TARGET_FILE:deny>")
add_dependencies(sandbox_test causeway launch_rank spec_gex_par deny)
gtest_discover_tests(sandbox_test TEST_PREFIX fault. PROPERTIES LABELS fault TIMEOUT ${fault_limit})
