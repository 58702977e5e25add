target_sources(unit_trace_clocks_test PRIVATE ${PROJECT_SOURCE_DIR}/tools/command/trace_clocks.cpp)
target_include_directories(unit_trace_clocks_test PRIVATE ${PROJECT_SOURCE_DIR})
