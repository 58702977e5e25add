add_dependencies(unit_shm_failure_test conduit_shm conduit_self)
set_tests_properties(unit.shm_failure_test PROPERTIES RUN_SERIAL TRUE) # counts names in /dev/shm
