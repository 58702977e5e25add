! Chapter 8.
module transfer
  use testing
  implicit none
  private
  public :: writes, reads, notes, lists, queues

  integer(gaspi_segment_id_t), target :: from(3), to(3)
  integer(gaspi_offset_t), target :: from_at(3), to_at(3)
  integer(gaspi_size_t), target :: bytes(3)

contains

  ! Catches: local and remote arguments in each other's place.
  subroutine writes()
    integer :: i

    memory0(1:100) = [(1000 * rank + i, i=1, 100)]
    call check_ok(gaspi_write(seg0, 40_off, right, seg1, 400_off, 360_off, queue0, long), &
                  'gaspi_write')
    call check_ok(gaspi_notify(seg1, right, 5, 77, queue0, long), 'gaspi_notify')
    call check_equal(take_note(seg1, 5), 77, 'the notification')
    call check(all(memory1(101:190) == [(1000 * left + i, i=11, 100)]), 'the data of the left one')
    call check(all(memory1(:100) == 0) .and. all(memory1(191:) == 0), 'what lies around it')
    call check_ok(gaspi_wait(queue0, long), 'gaspi_wait')
    call barrier()
    memory0(1) = -5
    call check_ok(gaspi_write_notify(seg0, 0_off, right, seg1, 0_off, 4_off, 6, 8, queue0, long), &
                  'gaspi_write_notify')
    call check_equal(take_note(seg1, 6), 8, 'the notification')
    call check_equal(memory1(1), -5, 'the data')
    call check_ok(gaspi_wait(queue0, long), 'gaspi_wait')
    call check_is(gaspi_write(seg0, 0_off, ranks, seg1, 0_off, 4_off, queue0, long), &
                  GASPI_ERR_INV_RANK, 'gaspi_write to nobody')
    call check_is(gaspi_write(seg0, 0_off, right, seg1, int(segment_bytes, gaspi_offset_t), 4_off, &
                              queue0, long), GASPI_ERR_INV_REM_OFF, 'gaspi_write behind the end')
  end subroutine writes

  ! Catches: a read that takes from or puts to another place.
  subroutine reads()
    integer :: i

    memory0(1:100) = [(1000 * rank + i, i=1, 100)]
    call barrier()
    call check_ok(gaspi_read(seg1, 80_off, right, seg0, 200_off, 200_off, queue0, long), &
                  'gaspi_read')
    call check_ok(gaspi_wait(queue0, long), 'gaspi_wait')
    call check(all(memory1(21:70) == [(1000 * right + i, i=51, 100)]), 'the data of the right one')
    call check(all(memory1(:20) == 0) .and. all(memory1(71:) == 0), 'what lies around it')
    call check_ok(gaspi_read_notify(seg1, 2000_off, left, seg0, 0_off, 40_off, 9, queue0, long), &
                  'gaspi_read_notify')
    call check_equal(take_note(seg1, 9), 1, 'the notification of a read')
    call check(all(memory1(501:510) == [(1000 * left + i, i=1, 10)]), 'the data of the left one')
    call check_ok(gaspi_wait(queue0, long), 'gaspi_wait')
    call barrier()
  end subroutine reads

  ! Catches: ranges and values of notifications, which all are integers of one kind.
  subroutine notes()
    integer(gaspi_notification_id_t) :: first
    integer(gaspi_notification_t) :: old

    first = -1
    call check_is(gaspi_notify_waitsome(seg0, 10, 20, first, GASPI_TEST), GASPI_TIMEOUT, &
                  'gaspi_notify_waitsome before any')
    call barrier()
    call check_ok(gaspi_notify(seg0, right, 29, -2, queue0, long), 'gaspi_notify')
    call check_ok(gaspi_notify_waitsome(seg0, 10, 20, first, long), 'gaspi_notify_waitsome')
    call check_equal(first, 29, 'the first notification')
    call check_ok(gaspi_notify_reset(seg0, first, old), 'gaspi_notify_reset')
    call check_equal(old, -2, 'its value, the largest but one')
    call check_ok(gaspi_notify_reset(seg0, first, old), 'gaspi_notify_reset')
    call check_equal(old, 0, 'its value after a reset')
    call check_is(gaspi_notify(seg0, right, 29, 0, queue0, long), GASPI_ERR_INV_NOTIF_VAL, &
                  'gaspi_notify of nothing')
    call check_ok(gaspi_wait(queue0, long), 'gaspi_wait')
  end subroutine notes

  subroutine fill_lists()
    from = [seg0, seg1, seg0]
    from_at = [0_off, 4_off, 8_off]
    to = [seg1, seg0, seg1]
    to_at = [4000_off, 4100_off, 4200_off]
    bytes = [4_off, 8_off, 12_off]
  end subroutine fill_lists

  ! Catches: lists of another kind of element, or two of them in each other's place.
  subroutine lists()
    integer :: i

    call fill_lists()
    memory0(1:8) = [(100 * rank + i, i=1, 8)]
    memory1(1:8) = [(100 * rank + 50 + i, i=1, 8)]
    call barrier()
    call check_ok(gaspi_write_list(3, c_loc(from), c_loc(from_at), right, c_loc(to), c_loc(to_at), &
                                   c_loc(bytes), queue0, long), 'gaspi_write_list')
    call check_ok(gaspi_wait(queue0, long), 'gaspi_wait')
    call barrier()
    call check_copies(int(left), 'gaspi_write_list')
    call check_ok(gaspi_write_list_notify(3, c_loc(from), c_loc(from_at), left, c_loc(to), &
                                          c_loc(to_at), c_loc(bytes), seg1, 11, 22, queue0, long), &
                  'gaspi_write_list_notify')
    call check_equal(take_note(seg1, 11), 22, 'the notification of gaspi_write_list_notify')
    call check_copies(int(right), 'gaspi_write_list_notify')
    call check_ok(gaspi_wait(queue0, long), 'gaspi_wait')
    call barrier()
    ! A read puts into the first lists what lies where the second ones say.
    call check_ok(gaspi_read_list(3, c_loc(to), c_loc(to_at), right, c_loc(from), c_loc(from_at), &
                                  c_loc(bytes), queue0, long), 'gaspi_read_list')
    call check_ok(gaspi_wait(queue0, long), 'gaspi_wait')
    call check_copies(int(right), 'gaspi_read_list')
    call check_ok(gaspi_read_list_notify(3, c_loc(to), c_loc(to_at), left, c_loc(from), &
                                         c_loc(from_at), c_loc(bytes), seg0, 12, queue0, long), &
                  'gaspi_read_list_notify')
    call check_equal(take_note(seg0, 12), 1, 'the notification of gaspi_read_list_notify')
    call check_copies(int(left), 'gaspi_read_list_notify')
    call check_ok(gaspi_wait(queue0, long), 'gaspi_wait')
    call barrier()
  end subroutine lists

  subroutine check_copies(of, call_name)
    integer, intent(in) :: of
    character(len=*), intent(in) :: call_name

    call check(memory1(1001) == 100 * of + 1, call_name // ': the first element')
    call check(all(memory0(1026:1027) == 100 * of + 50 + [2, 3]), call_name // ': the second')
    call check(all(memory1(1051:1053) == 100 * of + [3, 4, 5]), call_name // ': the third')
    memory1(1001:1053) = 0
    memory0(1026:1027) = 0
    call barrier()
  end subroutine check_copies

  ! Catches: a queue that is another one, or counts wrong.
  subroutine queues()
    integer(gaspi_queue_id_t) :: queue
    integer(gaspi_number_t) :: before, now, waiting

    call check_ok(gaspi_queue_num(before), 'gaspi_queue_num')
    call check_ok(gaspi_queue_create(queue, long), 'gaspi_queue_create')
    call check_ok(gaspi_queue_num(now), 'gaspi_queue_num')
    call check_equal(now, before + 1, 'queues')
    waiting = -1
    call check_ok(gaspi_queue_size(queue, waiting), 'gaspi_queue_size')
    call check_equal(waiting, 0, 'requests of a new queue')
    memory0(1) = 300 + rank
    call check_ok(gaspi_write_notify(seg0, 0_off, right, seg1, 0_off, 4_off, 1, 1, queue, long), &
                  'gaspi_write_notify')
    call check_ok(gaspi_queue_size(queue, waiting), 'gaspi_queue_size')
    call check(waiting >= 0 .and. waiting <= 1, 'one request at most')
    call check_equal(take_note(seg1, 1), 1, 'the notification')
    call check_equal(memory1(1), 300 + left, 'the data')
    call check_ok(gaspi_wait(queue, long), 'gaspi_wait')
    call check_ok(gaspi_queue_purge(queue, long), 'gaspi_queue_purge')
    call check_ok(gaspi_queue_size(queue, waiting), 'gaspi_queue_size')
    call check_equal(waiting, 0, 'requests of a purged queue')
    call check_ok(gaspi_queue_delete(queue), 'gaspi_queue_delete')
    call check_is(gaspi_wait(queue, long), GASPI_ERR_INV_QUEUE, 'gaspi_wait of no queue')
  end subroutine queues
end module transfer
