! A Fortran program that knows no more than GASPI 17.1: every rank hands its neighbor a number and
! all take the largest product. Prints "rank R of N: ok".
module products
  use GASPI_C_BINDING
  implicit none
contains
  function larger(op_one, op_two, op_res, op_state, num, element_size, timeout) result(res) &
      bind(C, name="larger")
    integer(gaspi_number_t), intent(in), value :: num
    integer(c_int), intent(in) :: op_one(num), op_two(num)
    integer(c_int), intent(out) :: op_res(num)
    integer(c_int), intent(in) :: op_state(*)
    integer(gaspi_size_t), value :: element_size
    integer(gaspi_timeout_t), value :: timeout
    integer(gaspi_return_t) :: res

    op_res = max(op_one, op_two)
    res = merge(GASPI_SUCCESS, GASPI_ERROR, &
                element_size == 4 .and. timeout /= 0 .and. op_state(1) == 3)
  end function larger
end module products

program client
  use products
  implicit none
  integer(gaspi_rank_t) :: rank, num
  integer(gaspi_segment_id_t), parameter :: segment = 0
  integer(gaspi_queue_id_t), parameter :: queue = 0
  integer(gaspi_notification_id_t) :: first
  integer(gaspi_notification_t) :: value
  integer(c_int), target :: product(1), largest(1), state(1)
  integer(c_int), pointer :: numbers(:)
  type(c_ptr) :: memory

  call check(gaspi_proc_init(GASPI_BLOCK))
  call check(gaspi_proc_rank(rank))
  call check(gaspi_proc_num(num))
  call check(gaspi_segment_create(segment, 8_gaspi_size_t, GASPI_GROUP_ALL, GASPI_BLOCK, &
                                  GASPI_ALLOC_DEFAULT))
  call check(gaspi_segment_ptr(segment, memory))
  call c_f_pointer(memory, numbers, [2])
  numbers(1) = rank + 2
  call check(gaspi_write_notify(segment, 0_gaspi_offset_t, modulo(rank + 1_gaspi_rank_t, num), &
                                segment, 4_gaspi_offset_t, 4_gaspi_size_t, 0, 1, queue, GASPI_BLOCK))
  call check(gaspi_notify_waitsome(segment, 0, 1, first, GASPI_BLOCK))
  call check(gaspi_notify_reset(segment, first, value))
  call check(gaspi_wait(queue, GASPI_BLOCK))
  product = numbers(1) * numbers(2)
  state = 3
  call check(gaspi_allreduce_user(c_loc(product), c_loc(largest), 1, 4_gaspi_size_t, &
                                  c_funloc(larger), c_loc(state), GASPI_GROUP_ALL, GASPI_BLOCK))
  if (largest(1) /= (num + 1) * merge(int(num), 2, num > 1)) stop 2
  print '(a,i0,a,i0,a)', 'rank ', rank, ' of ', num, ': ok'
  call check(gaspi_proc_term(GASPI_BLOCK))

contains

  subroutine check(res)
    integer(gaspi_return_t), intent(in) :: res
    character(len=100) :: text
    integer(gaspi_return_t) :: ignored

    if (res == GASPI_SUCCESS) return
    ignored = gaspi_print_error(res, text)
    print *, 'client: ', trim(text)
    stop 1
  end subroutine check
end program client
