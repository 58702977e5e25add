# The same binary under Open MPI's mpirun, which hosts a PMIx server of its own.
foreach(case exchange many death)
  add_test(NAME hosts.mpirun.${case}
    COMMAND ${CMAKE_CURRENT_LIST_DIR}/mpirun_test.sh $<TARGET_FILE:launch_rank> ${case})
  set_tests_properties(hosts.mpirun.${case} PROPERTIES
    LABELS hosts TIMEOUT 120 SKIP_RETURN_CODE 77)
endforeach()
