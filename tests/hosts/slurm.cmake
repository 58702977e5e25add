# Under Slurm's srun, with a Slurm of the test's own.
foreach(case bootstrap programs)
  add_test(NAME hosts.slurm.${case}
    COMMAND bash ${CMAKE_CURRENT_LIST_DIR}/slurm_test.sh $<TARGET_FILE:launch_rank>
            $<TARGET_FILE:spec_gex_par> $<TARGET_FILE:wordfreq> ${case})
  # One at a time: two clusters of one name would meet in Slurm's shared-memory names.
  set_tests_properties(hosts.slurm.${case} PROPERTIES
    LABELS hosts TIMEOUT 300 SKIP_RETURN_CODE 77 RESOURCE_LOCK slurm)
endforeach()
