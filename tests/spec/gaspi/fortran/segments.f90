! Chapter 7.
module segments
  use testing
  use gaspi_ext
  implicit none
  private
  public :: allocated, bound, high_ids

contains

  ! Catches: a pointer to other memory, ids of another kind in a list, sizes cut to 32 bits.
  subroutine allocated()
    integer(gaspi_segment_id_t) :: id, available
    integer(gaspi_segment_id_t), allocatable, target :: list(:)
    integer(gaspi_number_t) :: before, count
    integer(gaspi_size_t) :: bytes
    integer(c_int), pointer :: data(:)
    type(c_ptr) :: base
    integer :: r

    id = 9
    call check_ok(gaspi_segment_num(before), 'gaspi_segment_num')
    call check_ok(gaspi_segment_alloc(id, 4096_off, GASPI_MEM_INITIALIZED), 'gaspi_segment_alloc')
    call check_ok(gaspi_segment_num(count), 'gaspi_segment_num')
    call check_equal(count, before + 1, 'segments')
    allocate (list(count + 1), source=-1_gaspi_segment_id_t)
    call check_ok(gaspi_segment_list(count, c_loc(list)), 'gaspi_segment_list')
    call check(any(list == id), 'the id is in the list')
    call check_equal(int(list(count + 1)), -1, 'what lies behind the list')
    call check_ok(gaspi_segment_ptr(id, base), 'gaspi_segment_ptr')
    call c_f_pointer(base, data, [1024])
    call check(all(data == 0), 'initialized memory is zero')
    call check_ok(gaspi_segment_avail_local(available), 'gaspi_segment_avail_local')
    call check(all(list(:count) /= available), 'a free id is not in the list')
    do r = 0, ranks - 1
      call check_ok(gaspi_segment_register(id, int(r, gaspi_rank_t), long), 'gaspi_segment_register')
    end do
    call barrier()
    bytes = -1
    call check_ok(gaspi_segment_size(id, right, bytes), 'gaspi_segment_size')
    call check(bytes == 4096, 'the size of the segment at the right')
    memory0(1) = 1000 + rank
    call check_ok(gaspi_write_notify(seg0, 0_off, right, id, 4092_off, 4_off, 0, 1, queue0, long), &
                  'gaspi_write_notify')
    call check_equal(take_note(id, 0), 1, 'the notification')
    call check_equal(data(1024), 1000 + left, 'the last integer of the segment')
    call check_ok(gaspi_wait(queue0, long), 'gaspi_wait')
    call barrier()
    call check_ok(gaspi_segment_delete(id), 'gaspi_segment_delete')
    call check_is(gaspi_segment_ptr(id, base), GASPI_ERR_INV_SEG, 'gaspi_segment_ptr')
  end subroutine allocated

  ! Catches: memory of the program that is not what others read and write.
  subroutine bound()
    integer(c_int), allocatable, target :: mine(:), ours(:)
    integer(gaspi_segment_id_t), parameter :: id_bound = 10, id_used = 11
    integer(gaspi_memory_description_t), parameter :: host = 0
    integer :: i

    allocate (mine(100), source=5)
    allocate (ours(100), source=6)
    call check_ok(gaspi_segment_bind(id_bound, c_loc(mine), 400_off, host), 'gaspi_segment_bind')
    call check_ok(gaspi_segment_use(id_used, c_loc(ours), 400_off, GASPI_GROUP_ALL, long, host), &
                  'gaspi_segment_use')
    mine = [(1000 * rank + i, i=1, 100)]
    call check_ok(gaspi_write_notify(id_bound, 0_off, right, id_used, 0_off, 400_off, 1, 1, queue0, &
                                     long), 'gaspi_write_notify')
    call check_equal(take_note(id_used, 1), 1, 'the notification')
    call check(all(ours == [(1000 * left + i, i=1, 100)]), 'the data of the left one')
    call check_ok(gaspi_wait(queue0, long), 'gaspi_wait')
    call barrier()
    call check_ok(gaspi_segment_delete(id_bound), 'gaspi_segment_delete')
    call check_ok(gaspi_segment_delete(id_used), 'gaspi_segment_delete')
  end subroutine bound

  ! Catches: ids of the upper half, which are negative here, widened with their sign on the way.
  subroutine high_ids()
    integer(gaspi_segment_id_t), parameter :: id = int(200 - 256, gaspi_segment_id_t)
    integer(c_int), pointer :: data(:)
    type(c_ptr) :: base

    call check_ok(gaspi_segment_create(id, 64_off, GASPI_GROUP_ALL, long, GASPI_ALLOC_DEFAULT), &
                  'gaspi_segment_create')
    call check_ok(gaspi_segment_ptr(id, base), 'gaspi_segment_ptr')
    call c_f_pointer(base, data, [16])
    memory0(1) = 7 + rank
    call check_ok(gaspi_write_notify(seg0, 0_off, right, id, 60_off, 4_off, 0, 3, queue0, long), &
                  'gaspi_write_notify')
    call check_equal(take_note(id, 0), 3, 'the notification')
    call check_equal(data(16), 7 + left, 'the data')
    call check_ok(gaspi_wait(queue0, long), 'gaspi_wait')
    call barrier()
    call check_ok(gaspi_segment_delete(id), 'gaspi_segment_delete')
  end subroutine high_ids
end module segments
