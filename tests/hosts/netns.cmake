# Two hosts that are network namespaces joined by a cable: need root and iproute2, else skipped.
function(netns_test name script)
  add_test(NAME hosts.netns.${name} COMMAND bash ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/${script} ${ARGN})
  set_tests_properties(hosts.netns.${name} PROPERTIES
    LABELS hosts TIMEOUT 300 SKIP_RETURN_CODE 77 PROCESSORS 2)
endfunction()

foreach(case exchange streams statuses killed interrupted cut continue spares)
  netns_test(launch.${case} netns_launch_test.sh $<TARGET_FILE:causeway>
    $<TARGET_FILE:launch_rank> ${case})
endforeach()
