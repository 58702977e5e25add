! Waits for an end from outside (the job's time limit).
program ended
  use gaspi_c_binding
  implicit none

  if (gaspi_proc_init(GASPI_BLOCK) /= GASPI_SUCCESS) stop 1
  print '(a)', 'begun'
  do while (gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK) == GASPI_SUCCESS)
  end do
end program ended
