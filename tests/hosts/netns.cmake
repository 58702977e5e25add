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

add_executable(bad_cable bad_cable.cpp)
add_executable(eavesdrop eavesdrop.cpp)
causeway_part_is_built(TLS encrypts)
if(encrypts)
  netns_test(launch.encrypted netns_launch_test.sh $<TARGET_FILE:causeway>
    $<TARGET_FILE:launch_rank> encrypted $<TARGET_FILE:eavesdrop>)
endif()
add_executable(over_cable over_cable.cpp)
target_compile_definitions(over_cable PRIVATE GASNET_SEQ=1)
target_link_libraries(over_cable PRIVATE causeway_lib)

# What is checked over which faults: name, seconds of traffic, arguments of bad_cable.
set(cables "doubled|1|delay=1 dup=5" "frames|3|mtu" "slow|2|rate=20000" "loss1|4|delay=1 loss=1" "loss3|3|delay=1 loss=3"
  "loss10|10|delay=1 loss=10" "shuffled|4|delay=3 jitter=3" "awful|10|delay=2 jitter=2 loss=3 dup=3 rate=50000 mtu")
set(cables_of_every_day eth.doubled eth.frames eth.slow eth.loss3)

foreach(network ofi ucx eth)
  if(NOT TARGET conduit_${network})
    message(STATUS "hosts.netns.${network}: left out, the conduit is not built")
    continue()
  endif()
  foreach(case spec wordfreq bad-cable cut)
    netns_test(${network}.${case} netns_network_test.sh $<TARGET_FILE:causeway>
      $<TARGET_FILE:spec_gex_par> $<TARGET_FILE:wordfreq> ${network} ${case}
      $<TARGET_FILE:bad_cable>)
  endforeach()
  foreach(cable IN LISTS cables)
    string(REGEX MATCH "^([^|]*)[|]([^|]*)[|](.*)$" _ "${cable}")
    set(name ${network}.${CMAKE_MATCH_1})
    netns_test(${name} netns_network_test.sh $<TARGET_FILE:causeway> - - ${network} over-cable
      $<TARGET_FILE:bad_cable> $<TARGET_FILE:over_cable> ${CMAKE_MATCH_2} "${CMAKE_MATCH_3}")
    if(NOT name IN_LIST cables_of_every_day)
      causeway_soak(hosts.netns.${name})
    endif()
  endforeach()
  netns_test(${network}.stranger netns_network_test.sh $<TARGET_FILE:causeway>
    $<TARGET_FILE:spec_gex_par> $<TARGET_FILE:wordfreq> ${network} stranger $<TARGET_FILE:intruder>)
  foreach(times 3 200)
    netns_test(${network}.last-words.${times} netns_network_test.sh $<TARGET_FILE:causeway>
      $<TARGET_FILE:spec_gex_par> $<TARGET_FILE:wordfreq> ${network} last-words
      $<TARGET_FILE:api_victim_par> ${times})
  endforeach()
  causeway_soak(hosts.netns.${network}.last-words.200)
  set_tests_properties(hosts.netns.${network}.last-words.200 PROPERTIES TIMEOUT 1200)
  foreach(case cut heat spare stopped)
    netns_test(gaspi.${network}.${case} netns_gaspi_test.sh $<TARGET_FILE:causeway>
      $<TARGET_FILE:spec_gaspi_failure> $<TARGET_FILE:heat> ${network} ${case})
  endforeach()
  netns_test(memkind.${network} netns_memkind_test.sh $<TARGET_FILE:causeway>
    $<TARGET_FILE:spec_mk_par> ${CAUSEWAY_STANDINS} cuda ${network})
  netns_test(mpirun.${network} netns_mpirun_test.sh $<TARGET_FILE:launch_rank>
    $<TARGET_FILE:spec_gex_par> $<TARGET_FILE:wordfreq> ${network})
endforeach()
# Two cables, of which one is cut for 2 s: seen by the kernel, or without a sign. Every network in both roles.
if(TARGET conduit_failover)
  foreach(run "ofi|ucx|down" "ucx|ofi|down" "eth|ofi|silent" "ofi|eth|silent" "ucx|eth|silent" "eth|ucx|down")
    string(REPLACE "|" ";" words "${run}")
    list(GET words 0 over)
    list(GET words 1 spare)
    list(GET words 2 case)
    if(TARGET conduit_${over} AND TARGET conduit_${spare})
      netns_test(failover.${over}_${spare}.${case} netns_failover_test.sh $<TARGET_FILE:causeway> $<TARGET_FILE:over_cable>
        ${over} ${spare} ${case} $<TARGET_FILE:bad_cable>)
    endif()
  endforeach()
endif()
if(TARGET conduit_failover AND TARGET conduit_ofi AND TARGET conduit_ucx)
  foreach(over ofi ucx)
    string(REPLACE ${over} "" spare "ofiucx")
    netns_test(failover.storm.${over} netns_failover_test.sh $<TARGET_FILE:causeway> $<TARGET_FILE:storm> ${over} ${spare} storm)
    causeway_soak(hosts.netns.failover.storm.${over})
    set_tests_properties(hosts.netns.failover.storm.${over} PROPERTIES TIMEOUT 1800)
  endforeach()
endif()
netns_test(eth.eight netns_eight_test.sh $<TARGET_FILE:causeway>
  $<TARGET_FILE:spec_gex_par> $<TARGET_FILE:wordfreq> $<TARGET_FILE:api_victim_par>)
netns_test(eth.striped netns_striped_test.sh $<TARGET_FILE:causeway> $<TARGET_FILE:spec_gex_par>)
netns_test(eth.blink netns_network_test.sh $<TARGET_FILE:causeway>
  $<TARGET_FILE:spec_gex_par> $<TARGET_FILE:wordfreq> eth blink)
# Without a configuration, and without a fabric.
foreach(case spec wordfreq)
  netns_test(default.${case} netns_network_test.sh $<TARGET_FILE:causeway>
      $<TARGET_FILE:spec_gex_par> $<TARGET_FILE:wordfreq> default ${case})
endforeach()
netns_test(mpirun.bootstrap netns_mpirun_test.sh $<TARGET_FILE:launch_rank>
  $<TARGET_FILE:spec_gex_par> $<TARGET_FILE:wordfreq> bootstrap)
