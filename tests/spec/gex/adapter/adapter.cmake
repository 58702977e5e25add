# Atomic domains of an adapter: a test conduit whose atomics processors are not coherent with.
causeway_add_plugin(KIND conduit NAME adapter SOURCES adapter/adapter.cpp NO_INSTALL)
set(adapter_dir ${CMAKE_BINARY_DIR}/lib/test-plugins/adapter)
set_target_properties(conduit_adapter PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${adapter_dir})
target_link_libraries(conduit_adapter PRIVATE ${CMAKE_DL_LIBS})
target_compile_definitions(conduit_adapter PRIVATE
  ADAPTER_WRAPS="$<TARGET_FILE:conduit_shm>" ADAPTER_FILE="${adapter_dir}/conduit_adapter.so")
add_dependencies(conduit_adapter conduit_shm)
set(adapter --config ${CMAKE_CURRENT_SOURCE_DIR}/adapter/adapter.yaml
  --set plugins.path=[${adapter_dir}])

foreach(ranks 1 4)
  foreach(mode seq par)
    spec_gex_test(adapter.${mode}.n${ranks} PROGRAM spec_gex_${mode} RANKS ${ranks} TIMEOUT 240
      RUN ${adapter} --set atomics.mechanism=nic CASES adapter atomics_shared)
  endforeach()
endforeach()
# Mapped memory everywhere: processors, unless the program's hint asks for more.
spec_gex_test(adapter.auto.n2 PROGRAM spec_gex_par RANKS 2 RUN ${adapter}
  CASES adapter adapter_lacks atomics atomics_shared)
