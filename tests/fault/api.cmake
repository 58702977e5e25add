# Faults seen by clients of the GASNet-EX interface. Uses the launcher tests' way of running a
# command and looking for leftovers.
foreach(mode SEQ PAR)
  string(TOLOWER ${mode} suffix)
  add_executable(api_victim_${suffix}
    api_victim.cpp api_victim_asked.cpp api_victim_atomic.cpp api_victim_checks.cpp api_victim_coll.cpp
    api_victim_end.cpp api_victim_exit.cpp api_victim_left.cpp api_victim_misuse.cpp)
  target_compile_definitions(api_victim_${suffix} PRIVATE GASNET_${mode}=1)
  target_link_libraries(api_victim_${suffix} PRIVATE causeway_lib Threads::Threads
    ${CMAKE_DL_LIBS})
endforeach()

add_library(fault_farewell MODULE farewell.cpp)

if(TARGET causeway_gaspi_lib)
  add_executable(gaspi_asked_victim gaspi_asked_victim.c)
  target_link_libraries(gaspi_asked_victim PRIVATE causeway_gaspi_lib)
endif()

# Would catch a call that is made before gex_Client_Init() and ends in SIGSEGV, or waits, or does not
# say which call it was.
add_executable(api_victim_early api_victim_early.cpp)
target_compile_definitions(api_victim_early PRIVATE GASNET_PAR=1)
target_link_libraries(api_victim_early PRIVATE causeway_lib Threads::Threads)
add_test(NAME fault.api.early COMMAND api_victim_early)
set_tests_properties(fault.api.early PROPERTIES LABELS fault TIMEOUT ${fault_limit})

include(GoogleTest)
foreach(part asked atomic checks coll misuse negotiate death exit left shown start)
  add_executable(api_${part}_test api_${part}_test.cpp ${fault_api_job})
  target_link_libraries(api_${part}_test PRIVATE GTest::gtest GTest::gtest_main)
  if(part STREQUAL asked)
    causeway_precompile(api_asked_test HEADERS <gtest/gtest.h>)
  else()
    causeway_share_precompiled(api_${part}_test api_asked_test)
  endif()
  target_compile_definitions(api_${part}_test PRIVATE
    CAUSEWAY_COMMAND="$<TARGET_FILE:causeway>"
    CAUSEWAY_SOURCE_DIR="${CMAKE_SOURCE_DIR}"
    LAUNCH_RANK="$<TARGET_FILE:api_victim_seq>"
    API_VICTIM="$<TARGET_FILE:api_victim_seq>"
    API_VICTIM_PAR="$<TARGET_FILE:api_victim_par>"
    FAREWELL_LIBRARY="$<TARGET_FILE:fault_farewell>")
  add_dependencies(api_${part}_test causeway causeway_lib api_victim_seq api_victim_par
    fault_farewell)
  if(part STREQUAL asked AND TARGET gaspi_asked_victim)
    # Of one file, since the precompiled header is shared.
    set_source_files_properties(api_asked_test.cpp PROPERTIES
      COMPILE_DEFINITIONS GASPI_ASKED="$<TARGET_FILE:gaspi_asked_victim>")
    add_dependencies(api_asked_test gaspi_asked_victim)
  endif()
  gtest_discover_tests(api_${part}_test TEST_PREFIX fault.api.${part}.
    TEST_FILTER -Hosts.*:Soak.* PROPERTIES LABELS fault TIMEOUT ${fault_limit})
endforeach()
target_link_libraries(api_shown_test PRIVATE yaml-cpp)
set_source_files_properties(api_shown_test.cpp PROPERTIES
  COMPILE_DEFINITIONS POLLS_AT_END="${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/polls_at_end")
add_dependencies(api_shown_test polls_at_end)
target_include_directories(api_shown_test PRIVATE ${CMAKE_SOURCE_DIR}/core)
gtest_discover_tests(api_exit_test TEST_PREFIX fault.api.exit. TEST_LIST api_soak
  TEST_FILTER Soak.* PROPERTIES LABELS soak TIMEOUT 3600)
gtest_discover_tests(api_start_test TEST_PREFIX hosts.api. TEST_LIST api_hosts_tests
  TEST_FILTER Hosts.* PROPERTIES LABELS hosts TIMEOUT 120)

add_library(late_events MODULE late_events.cpp)
target_link_libraries(late_events PRIVATE PkgConfig::PMIX ${CMAKE_DL_LIBS})
add_test(NAME fault.api.exit.late_events COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/late_events.sh
  $<TARGET_FILE:causeway> $<TARGET_FILE:api_victim_par> $<TARGET_FILE:late_events>)
set_tests_properties(fault.api.exit.late_events PROPERTIES LABELS fault TIMEOUT ${fault_limit})

# The launcher lets rank 0 be until its start has failed. Sanitizers intercept the same functions.
if(NOT CAUSEWAY_SANITIZE)
  add_executable(news_at_failed_start news_at_failed_start.cpp)
  target_compile_definitions(news_at_failed_start PRIVATE GASNET_PAR=1)
  target_link_libraries(news_at_failed_start PRIVATE causeway_lib ${CMAKE_DL_LIBS})
  add_test(NAME fault.api.start.news COMMAND causeway run -n 6 --timeout 30 --set timeouts.kill=20s
    -- $<TARGET_FILE:news_at_failed_start>)
  set_tests_properties(fault.api.start.news PROPERTIES LABELS fault TIMEOUT ${fault_limit}
    PASS_REGULAR_EXPRESSION "news held up, start: [1-9]" FAIL_REGULAR_EXPRESSION "double free;killed by signal"
    SKIP_REGULAR_EXPRESSION "no news to hold up")
endif()

add_executable(polls_at_end polls_at_end.cpp)
target_compile_definitions(polls_at_end PRIVATE GASNET_PAR=1)
target_link_libraries(polls_at_end PRIVATE causeway_lib Threads::Threads ${CMAKE_DL_LIBS})
foreach(way return exit handler)
  add_test(NAME fault.api.exit.polls_at_end.${way} COMMAND causeway run -n 2 --timeout 30 --
    $<TARGET_FILE:polls_at_end> $<TARGET_FILE:fault_farewell> ${way})
  set_tests_properties(fault.api.exit.polls_at_end.${way} PROPERTIES LABELS fault TIMEOUT ${fault_limit})
endforeach()

add_executable(last_thread last_thread.cpp)
target_compile_definitions(last_thread PRIVATE GASNET_PAR=1)
target_link_libraries(last_thread PRIVATE causeway_lib Threads::Threads)
foreach(conduit shm eth ofi ucx)
  if(NOT TARGET conduit_${conduit})
    continue()
  endif()
  # UCX does not find memory of a process whose first thread has left.
  foreach(way met blocked strangers)
    if(conduit STREQUAL ucx AND way STREQUAL strangers)
      continue()
    endif()
    set(test fault.api.exit.last_thread.${conduit}.${way})
    add_test(NAME ${test} COMMAND causeway run -n 2 --timeout 30 --set "peers=[{use: [self, ${conduit}]}]" --
      $<TARGET_FILE:last_thread> ${way})
    set_tests_properties(${test} PROPERTIES LABELS fault TIMEOUT ${fault_limit})
  endforeach()
endforeach()

if(TARGET conduit_ofi)
  add_library(signal_in_send MODULE signal_in_send.cpp)
  target_link_libraries(signal_in_send PRIVATE ${CMAKE_DL_LIBS})
  add_test(NAME fault.api.exit.signal_in_send
    COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/signal_in_send.sh $<TARGET_FILE:causeway>
      $<TARGET_FILE:api_victim_par> $<TARGET_FILE:signal_in_send>
      ${CMAKE_SOURCE_DIR}/configs/sites/ofi-tcp.yaml)
  set_tests_properties(fault.api.exit.signal_in_send PROPERTIES LABELS fault TIMEOUT ${fault_limit})
endif()

foreach(site ofi-tcp ucx-shm ucx-tcp)
  string(REGEX REPLACE "-.*" "" conduit ${site})
  if(TARGET conduit_${conduit})
    add_test(NAME fault.api.start.open_files.${site} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/open_files.sh
      $<TARGET_FILE:causeway> $<TARGET_FILE:api_victim_seq> ${CMAKE_SOURCE_DIR}/configs/sites/${site}.yaml)
    set_tests_properties(fault.api.start.open_files.${site} PROPERTIES LABELS fault TIMEOUT ${fault_limit})
  endif()
endforeach()
