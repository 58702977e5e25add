target_include_directories(unit_chaos_plan_test PRIVATE ${CMAKE_SOURCE_DIR})
