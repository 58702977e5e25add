# The command line of `causeway run`, without the launcher behind it.
target_sources(unit_run_command_test PRIVATE $<FILTER:$<TARGET_OBJECTS:causeway>,INCLUDE,/run_options[.]cpp[.]o$>)
target_include_directories(unit_run_command_test PRIVATE ${CMAKE_SOURCE_DIR}/tools/command)
target_link_libraries(unit_run_command_test PRIVATE causeway_launch causeway_options CLI11::CLI11)
