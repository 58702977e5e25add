! Chapters 9 and 10.
module passive_atomic
  use testing
  implicit none
  private
  public :: ring, fetch_add, compare_swap

contains

  ! Catches: a sender that is not told, sizes and offsets in each other's place.
  subroutine ring()
    integer(gaspi_rank_t) :: sender
    integer(gaspi_return_t) :: sent, received
    integer :: i

    memory0(1:10) = [(10 * rank + i, i=1, 10)]
    sender = -1
    sent = GASPI_TIMEOUT
    received = GASPI_TIMEOUT
    do while (sent == GASPI_TIMEOUT .or. received == GASPI_TIMEOUT)
      if (sent == GASPI_TIMEOUT) sent = gaspi_passive_send(seg0, 8_off, right, 32_off, 1_off)
      if (received == GASPI_TIMEOUT) &
        received = gaspi_passive_receive(seg1, 400_off, sender, 32_off, 1_off)
    end do
    call check_ok(sent, 'gaspi_passive_send')
    call check_ok(received, 'gaspi_passive_receive')
    call check_equal(int(sender), int(left), 'the sender')
    call check(all(memory1(101:108) == [(10 * left + i, i=3, 10)]), 'the data of the left one')
    call check(memory1(100) == 0 .and. memory1(109) == 0, 'what lies around it')
    call check_ok(gaspi_passive_queue_purge(long), 'gaspi_passive_queue_purge')
    call barrier()
  end subroutine ring

  ! Catches: lost additions, old values that are not those before.
  subroutine fetch_add()
    integer(gaspi_atomic_value_t) :: old, most
    integer(gaspi_atomic_value_t), pointer :: values(:)
    type(c_ptr) :: base
    integer :: i

    call check_ok(gaspi_atomic_max(most), 'gaspi_atomic_max')
    call check(most == -1, 'all 64 bits')
    call check_ok(gaspi_segment_ptr(seg0, base), 'gaspi_segment_ptr')
    call c_f_pointer(base, values, [4])
    if (rank == 0) values(2) = huge(old) - 10 ! sums go on through all 64 bits
    call barrier()
    do i = 1, 100
      call check_ok(gaspi_atomic_fetch_add(seg0, 8_off, 0_gaspi_rank_t, 2_gaspi_atomic_value_t, &
                                           old, long), 'gaspi_atomic_fetch_add')
    end do
    call barrier()
    call check_ok(gaspi_atomic_fetch_add(seg0, 8_off, 0_gaspi_rank_t, 0_gaspi_atomic_value_t, old, &
                                         long), 'gaspi_atomic_fetch_add')
    call check(old == (-huge(old) - 1) + (200 * ranks - 11), 'the sum')
    call barrier()
  end subroutine fetch_add

  ! Catches: comparator and new value in each other's place.
  subroutine compare_swap()
    integer(gaspi_atomic_value_t) :: old
    integer :: turns
    integer(c_int) :: ignored
    interface
      function sched_yield() result(zero) bind(C)
        import
        integer(c_int) :: zero
      end function sched_yield
    end interface

    turns = 0
    ! A lock: 0 is free.
    do while (turns < 10)
      call check_ok(gaspi_atomic_compare_swap(seg0, 0_off, 0_gaspi_rank_t, 0_gaspi_atomic_value_t, &
                                              int(rank + 1, gaspi_atomic_value_t), old, long), &
                    'gaspi_atomic_compare_swap')
      if (old /= 0) then
        ignored = sched_yield() ! the holder may need this core
        cycle
      end if
      turns = turns + 1
      ! Alone here: a sum without any care.
      call check_ok(gaspi_read(seg1, 0_off, 0_gaspi_rank_t, seg0, 64_off, 4_off, queue0, long), &
                    'gaspi_read')
      call check_ok(gaspi_wait(queue0, long), 'gaspi_wait')
      memory1(1) = memory1(1) + 1
      call check_ok(gaspi_write(seg1, 0_off, 0_gaspi_rank_t, seg0, 64_off, 4_off, queue0, long), &
                    'gaspi_write')
      call check_ok(gaspi_wait(queue0, long), 'gaspi_wait')
      call check_ok(gaspi_atomic_compare_swap(seg0, 0_off, 0_gaspi_rank_t, &
                                              int(rank + 1, gaspi_atomic_value_t), &
                                              0_gaspi_atomic_value_t, old, long), &
                    'gaspi_atomic_compare_swap')
      call check(old == rank + 1, 'the lock was mine')
    end do
    call barrier()
    if (rank == 0) call check_equal(memory0(17), 10 * ranks, 'the sum under the lock')
    call barrier()
  end subroutine compare_swap
end module passive_atomic
