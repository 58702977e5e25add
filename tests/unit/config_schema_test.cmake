target_include_directories(unit_config_schema_test PRIVATE ${CMAKE_SOURCE_DIR}/tools)
