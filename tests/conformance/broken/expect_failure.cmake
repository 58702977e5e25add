# Runs the suite over a broken conduit: it must fail, and name the case that is about that promise.
execute_process(COMMAND ${SUITE} --plugin ${PLUGIN} --seed 7 --filter ${CASE}
  OUTPUT_VARIABLE out ERROR_VARIABLE err RESULT_VARIABLE rc)
if(rc EQUAL 0)
  message(FATAL_ERROR "the suite found nothing wrong:\n${out}${err}")
endif()
if(NOT out MATCHES "(FAILED|CRASHED|HUNG) +${CASE}")
  message(FATAL_ERROR "the suite failed (${rc}) without naming ${CASE}:\n${out}${err}")
endif()
if(NOT out MATCHES "read: +[^\n]+\n +look at: +[^\n]")
  message(FATAL_ERROR "the suite does not say what to read and what to look at:\n${out}${err}")
endif()
