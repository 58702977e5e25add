! Chapter 5: processes, connections, the state vector; and the field's questions about them.
module process
  use testing
  use gaspi_ext
  implicit none
  private
  public :: numbers, states, disconnected, pings

contains

  ! Catches: an argument of another size, which leaves a part of the variable as it was.
  subroutine numbers()
    type(gaspi_config_t) :: config
    integer(gaspi_rank_t) :: me, all, local, locals
    integer(gaspi_number_t) :: initialized, incarnation

    me = -1
    all = -1
    local = -1
    locals = -1
    initialized = -1
    incarnation = -1
    call check_ok(gaspi_proc_rank(me), 'gaspi_proc_rank')
    call check_ok(gaspi_proc_num(all), 'gaspi_proc_num')
    call check(me >= 0 .and. me < all, 'a rank is below the number')
    call check_ok(gaspi_proc_incarnation(me, incarnation), 'gaspi_proc_incarnation')
    call check_equal(incarnation, 1, 'this process is the first of its rank')
    call check_ok(gaspi_proc_local_rank(local), 'gaspi_proc_local_rank')
    call check_ok(gaspi_proc_local_num(locals), 'gaspi_proc_local_num')
    call check(local >= 0 .and. local < locals .and. locals <= all, 'a local rank is below theirs')
    call check_ok(gaspi_initialized(initialized), 'gaspi_initialized')
    call check_equal(initialized, 1, 'initialized')
    incarnation = -1
    call check_ok(gaspi_proc_incarnation(me, incarnation), 'gaspi_proc_incarnation')
    call check_equal(incarnation, 1, 'the incarnation of a process that started with the job')
    call check_is(gaspi_proc_incarnation(all, incarnation), GASPI_ERR_INV_RANK, &
                  'gaspi_proc_incarnation of nobody')
    call check_is(gaspi_proc_init(GASPI_TEST), GASPI_ERR_INITED, 'a second gaspi_proc_init')
    call check_ok(gaspi_config_get(config), 'gaspi_config_get')
    call check_is(gaspi_config_set(config), GASPI_ERR_INITED, 'gaspi_config_set after the start')
    call check_is(gaspi_proc_kill(me, GASPI_TEST), GASPI_ERR_INV_RANK, 'gaspi_proc_kill of oneself')
  end subroutine numbers

  ! Catches: a vector whose entries are not one integer(gaspi_state_t) per rank.
  subroutine states()
    integer(gaspi_state_vector_t), allocatable, target :: vector(:)

    allocate (vector(ranks + 1), source=7_gaspi_state_t)
    call check_ok(gaspi_state_vec_get(c_loc(vector)), 'gaspi_state_vec_get')
    call check(all(vector(:ranks) == GASPI_STATE_HEALTHY), 'all are healthy')
    call check(vector(ranks + 1) == 7, 'nothing is written behind the last entry')
    call check_is(gaspi_state_vec_get(c_null_ptr), GASPI_ERR_NULLPTR, 'gaspi_state_vec_get')
  end subroutine states

  ! Catches: ranks or timeouts in each other's place.
  subroutine disconnected()
    integer(gaspi_rank_t) :: other
    logical :: pair

    other = ieor(rank, 1_gaspi_rank_t)
    pair = other < ranks
    if (pair) call check_ok(gaspi_connect(other, long), 'gaspi_connect')
    call barrier()
    if (pair .and. rank < other) call check_ok(gaspi_disconnect(other, long), 'gaspi_disconnect')
    call barrier()
    if (pair) call check_is(gaspi_write(seg0, 0_off, other, seg0, 64_off, 8_off, queue0, long), &
                            GASPI_ERROR, 'gaspi_write without a connection')
    call barrier()
    if (pair .and. rank > other) call check_ok(gaspi_connect(other, long), 'gaspi_connect')
    call barrier()
    if (pair) then
      memory0(1) = 100 + rank
      call check_ok(gaspi_write_notify(seg0, 0_off, other, seg0, 64_off, 4_off, 3, 5, queue0, &
                                       long), 'gaspi_write_notify')
      call check_equal(take_note(seg0, 3), 5, 'the notification')
      call check_equal(memory0(17), 100 + other, 'the data')
      call check_ok(gaspi_wait(queue0, long), 'gaspi_wait')
    end if
    call check_is(gaspi_connect(ranks, long), GASPI_ERR_INV_RANK, 'gaspi_connect to nobody')
  end subroutine disconnected

  ! Catches: a question that is lost when a call runs into its timeout.
  subroutine pings()
    integer(gaspi_return_t) :: res
    integer(gaspi_rank_t) :: r

    do r = 0, ranks - 1_gaspi_rank_t
      do
        res = gaspi_proc_ping(r, 1_gaspi_timeout_t)
        if (res /= GASPI_TIMEOUT) exit
      end do
      call check_ok(res, 'gaspi_proc_ping')
    end do
  end subroutine pings
end module process
