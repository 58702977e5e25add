# cmake -DCOMMITTED=v1.0.txt -DCHECK=append_only.cmake -DSCRATCH=dir -P append_only_selftest.cmake
# Would catch: an append_only.cmake that cannot fail (there is only one committed layout so far).
cmake_minimum_required(VERSION 3.25)
file(READ ${COMMITTED} good)

# expect(OK|BAD WHAT REGEX REPLACEMENT): a v1.1 made by one replacement.
function(expect verdict what regex replacement)
  string(REGEX REPLACE "${regex}" "${replacement}" changed "${good}")
  if(changed STREQUAL good)
    message(FATAL_ERROR "selftest '${what}' changed nothing")
  endif()
  file(REMOVE_RECURSE ${SCRATCH})
  file(WRITE ${SCRATCH}/v1.0.txt "${good}")
  file(WRITE ${SCRATCH}/v1.1.txt "${changed}")
  execute_process(COMMAND ${CMAKE_COMMAND} -DFOLDER=${SCRATCH} -P ${CHECK}
                  RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
  if(status EQUAL 0 AND verdict STREQUAL BAD)
    message(FATAL_ERROR "append_only accepted: ${what}")
  elseif(NOT status EQUAL 0 AND verdict STREQUAL OK)
    message(FATAL_ERROR "append_only refused: ${what}")
  endif()
endfunction()

expect(OK "an appended constant" "constant CWY_FORM_IPC 8" "constant CWY_FORM_IPC 8\nconstant CWY_FORM_X 16")
expect(OK "a grown structure" "struct cwy_job size [0-9]+" "struct cwy_job size 4000")
expect(OK "a later minor" "CWY_PLUGIN_MINOR 0" "CWY_PLUGIN_MINOR 1")
expect(BAD "a shrunk structure" "struct cwy_job size [0-9]+" "struct cwy_job size 8")
expect(BAD "a renumbered constant" "CWY_ERR_NOMEM -4" "CWY_ERR_NOMEM -5")
expect(BAD "a removed constant" "constant CWY_ERR_NOMEM -4\n" "")
expect(BAD "a moved member" " +[0-9]+    8 job_id:" "    80    8 job_id:")
expect(BAD "a retyped member" "job_id: char const" "job_id: void const")
file(REMOVE_RECURSE ${SCRATCH})
