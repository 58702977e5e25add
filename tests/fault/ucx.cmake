# What a conduit over UCX leaves behind, and who could read it.
if(TARGET conduit_ucx)
  add_test(NAME fault.ucx.memory COMMAND bash ${CMAKE_CURRENT_SOURCE_DIR}/ucx_memory.sh
    $<TARGET_FILE:causeway> $<TARGET_FILE:spec_gex_par>)
  set_tests_properties(fault.ucx.memory PROPERTIES LABELS fault TIMEOUT ${fault_limit})
endif()
