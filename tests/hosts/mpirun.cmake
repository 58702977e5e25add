# The same binary under Open MPI's mpirun, which hosts a PMIx server of its own.
foreach(case exchange many death)
  add_test(NAME hosts.mpirun.${case}
    COMMAND ${CMAKE_CURRENT_LIST_DIR}/mpirun_test.sh $<TARGET_FILE:launch_rank> ${case})
  set_tests_properties(hosts.mpirun.${case} PROPERTIES
    LABELS hosts TIMEOUT 120 SKIP_RETURN_CODE 77)
endforeach()

# GASPI there, with and without MPI in the same program.
function(mpirun_gaspi_test name case)
  set(program spec_gaspi)
  if(case STREQUAL dead)
    set(program spec_gaspi_noticing)
  endif()
  add_test(NAME hosts.mpirun.gaspi.${name}
    COMMAND ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/mpirun_gaspi_test.sh ${case}
      ${PROJECT_SOURCE_DIR}/core/include ${CMAKE_BINARY_DIR}/gaspi
      $<TARGET_FILE_DIR:causeway_gaspi_lib> $<TARGET_FILE:${program}>
      ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/gaspi_with_mpi.c ${ARGN})
  set_tests_properties(hosts.mpirun.gaspi.${name} PROPERTIES
    LABELS hosts TIMEOUT 240 SKIP_RETURN_CODE 77 PROCESSORS 3)
endfunction()
mpirun_gaspi_test(mixed mixed)
mpirun_gaspi_test(plain plain)
mpirun_gaspi_test(dead dead)
if(TARGET conduit_ofi)
  mpirun_gaspi_test(mixed.ofi-tcp mixed ${PROJECT_SOURCE_DIR}/configs/sites/ofi-tcp.yaml)
  mpirun_gaspi_test(dead.ofi-tcp dead ${PROJECT_SOURCE_DIR}/configs/sites/ofi-tcp.yaml)
endif()
add_test(NAME hosts.mpirun.client
  COMMAND ${CMAKE_CURRENT_LIST_DIR}/mpirun_test.sh $<TARGET_FILE:hello> client)
set_tests_properties(hosts.mpirun.client PROPERTIES
  LABELS hosts TIMEOUT 120 SKIP_RETURN_CODE 77)
