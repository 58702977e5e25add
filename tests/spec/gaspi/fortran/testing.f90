! What the Fortran cases share: they run in the same order on every rank, a failed check on any rank
! fails the case on all, later cases still run, and only rank 0 says how things went.
module testing
  use, intrinsic :: iso_fortran_env, only: error_unit, output_unit
  use gaspi_c_binding
  implicit none
  public

  ! Segment 0 of every rank is there for every case, and segment 1; both are zero when it begins.
  integer, parameter :: segment_bytes = 65536
  integer(gaspi_segment_id_t), parameter :: seg0 = 0, seg1 = 1
  integer(gaspi_queue_id_t), parameter :: queue0 = 0
  ! Every blocking wait of a case ends: so many milliseconds are for ever on any machine.
  integer(gaspi_timeout_t), parameter :: long = 60000
  integer, parameter :: off = gaspi_offset_t ! 8_off is an offset or size

  integer(gaspi_rank_t) :: rank, ranks, right, left
  integer(c_int), pointer :: memory0(:), memory1(:) ! the segments

  character(len=64), private :: running = ''
  integer(c_int), target, private :: failures = 0
  integer, private :: passed = 0, failed = 0, skipped = 0

contains

  subroutine check(good, text)
    logical, intent(in) :: good
    character(len=*), intent(in) :: text

    if (good) return
    failures = failures + 1
    write (error_unit, '(a,i0,4a)') 'rank ', rank, ': ', trim(running), ': not true: ', text
  end subroutine check

  subroutine check_is(res, expected, text)
    integer(gaspi_return_t), intent(in) :: res, expected
    character(len=*), intent(in) :: text
    character(len=100) :: got, wanted
    integer(gaspi_return_t) :: ignored

    if (res == expected) return
    failures = failures + 1
    ignored = gaspi_print_error(res, got)
    ignored = gaspi_print_error(expected, wanted)
    write (error_unit, '(a,i0,8a)') 'rank ', rank, ': ', trim(running), ': ', text, ' says "', &
      trim(got), '", expected is "', trim(wanted) // '"'
  end subroutine check_is

  subroutine check_ok(res, text)
    integer(gaspi_return_t), intent(in) :: res
    character(len=*), intent(in) :: text

    call check_is(res, GASPI_SUCCESS, text)
  end subroutine check_ok

  subroutine check_equal(value, expected, text)
    integer, intent(in) :: value, expected
    character(len=*), intent(in) :: text

    if (value == expected) return
    failures = failures + 1
    write (error_unit, '(a,i0,5a,i0,a,i0)') 'rank ', rank, ': ', trim(running), ': ', text, &
      ' is ', value, ', expected is ', expected
  end subroutine check_equal

  ! Without these nothing can be tested.
  subroutine require(res, text)
    integer(gaspi_return_t), intent(in) :: res
    character(len=*), intent(in) :: text

    if (res == GASPI_SUCCESS) return
    write (error_unit, '(2a,i0)') text, ': error ', res
    stop 1
  end subroutine require

  subroutine barrier()
    call require(gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK), 'gaspi_barrier')
  end subroutine barrier

  ! Waits for one notification of a segment and resets it; 0 when it does not come.
  function take_note(segment, id) result(value)
    integer(gaspi_segment_id_t), intent(in) :: segment
    integer, intent(in) :: id
    integer :: value
    integer(gaspi_notification_id_t) :: first
    integer(gaspi_notification_t) :: old

    value = 0
    if (gaspi_notify_waitsome(segment, id, 1, first, long) /= GASPI_SUCCESS) return
    if (first /= id) return
    if (gaspi_notify_reset(segment, first, old) == GASPI_SUCCESS) value = old
  end function take_note

  subroutine start()
    type(c_ptr) :: base

    call require(gaspi_proc_init(GASPI_BLOCK), 'gaspi_proc_init')
    call require(gaspi_proc_rank(rank), 'gaspi_proc_rank')
    call require(gaspi_proc_num(ranks), 'gaspi_proc_num')
    right = modulo(rank + 1_gaspi_rank_t, ranks)
    left = modulo(rank - 1_gaspi_rank_t, ranks)
    call require(gaspi_segment_create(seg0, int(segment_bytes, gaspi_size_t), GASPI_GROUP_ALL, &
                                      GASPI_BLOCK, GASPI_MEM_INITIALIZED), 'gaspi_segment_create')
    call require(gaspi_segment_create(seg1, int(segment_bytes, gaspi_size_t), GASPI_GROUP_ALL, &
                                      GASPI_BLOCK, GASPI_MEM_INITIALIZED), 'gaspi_segment_create')
    call require(gaspi_segment_ptr(seg0, base), 'gaspi_segment_ptr')
    call c_f_pointer(base, memory0, [segment_bytes / 4])
    call require(gaspi_segment_ptr(seg1, base), 'gaspi_segment_ptr')
    call c_f_pointer(base, memory1, [segment_bytes / 4])
  end subroutine start

  subroutine run(name, body, least_ranks)
    character(len=*), intent(in) :: name
    interface
      subroutine body()
      end subroutine body
    end interface
    integer, intent(in), optional :: least_ranks
    integer(c_int), target :: total

    if (present(least_ranks)) then
      if (ranks < least_ranks) then
        skipped = skipped + 1
        if (rank == 0) write (output_unit, '(3a,i0,a)') 'skipped ', name, ': needs ', least_ranks, &
          ' ranks'
        return
      end if
    end if
    running = name
    failures = 0
    memory0 = 0
    memory1 = 0
    call barrier()
    call body()
    call require(gaspi_allreduce(c_loc(failures), c_loc(total), 1, GASPI_OP_SUM, GASPI_TYPE_INT, &
                                 GASPI_GROUP_ALL, GASPI_BLOCK), 'gaspi_allreduce')
    if (total == 0) then
      passed = passed + 1
    else
      failed = failed + 1
      if (rank == 0) write (output_unit, '(3a,i0,a)') 'FAILED ', name, ': ', total, ' checks'
    end if
  end subroutine run

  subroutine finish()
    if (rank == 0) then
      write (output_unit, '(3(i0,a))') passed, ' passed, ', failed, ' failed, ', skipped, ' skipped'
      flush (output_unit)
    end if
    call require(gaspi_proc_term(GASPI_BLOCK), 'gaspi_proc_term')
    if (failed > 0) stop 1
  end subroutine finish
end module testing
