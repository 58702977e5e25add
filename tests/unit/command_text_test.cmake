# What the subcommands print, without a job.
target_sources(unit_command_text_test PRIVATE $<FILTER:$<TARGET_OBJECTS:causeway>,INCLUDE,/svg_matrix[.]cpp[.]o$>
  $<FILTER:$<TARGET_OBJECTS:causeway>,INCLUDE,/text[.]cpp[.]o$>)
target_include_directories(unit_command_text_test PRIVATE ${CMAKE_SOURCE_DIR}/tools/command)
