! gaspi_proc_kill, and what the state vector says of the process that it ended. Prints "killed: well".
program killed
  use gaspi_c_binding
  implicit none
  integer(gaspi_rank_t) :: rank
  integer(gaspi_state_t), target :: states(2)
  integer :: turn

  call must(gaspi_proc_init(GASPI_BLOCK))
  call must(gaspi_proc_rank(rank))
  call must(gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK))
  if (rank == 1) then
    do ! interrupted here
      call must(gaspi_state_vec_get(c_loc(states)))
    end do
  end if
  call must(gaspi_proc_kill(1_gaspi_rank_t, 30000_gaspi_timeout_t))
  states = GASPI_STATE_HEALTHY
  do turn = 1, 300
    call must(gaspi_state_vec_get(c_loc(states)))
    if (states(2) == GASPI_STATE_CORRUPT) exit
    if (gaspi_barrier(GASPI_GROUP_ALL, 100_gaspi_timeout_t) == GASPI_SUCCESS) stop 2
  end do
  if (states(1) == GASPI_STATE_HEALTHY .and. states(2) == GASPI_STATE_CORRUPT) print '(a)', 'killed: well'
  call must(gaspi_proc_term(GASPI_BLOCK))

contains

  subroutine must(res)
    integer(gaspi_return_t), intent(in) :: res

    if (res /= GASPI_SUCCESS) stop 1
  end subroutine must
end program killed
