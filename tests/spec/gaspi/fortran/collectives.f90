! Chapter 11.
module collectives
  use testing
  implicit none
  private
  public :: barriers, predefined, user_defined, user_defined_pointers

  type, bind(C) :: extreme
    real(c_double) :: value
    integer(c_long) :: place
  end type extreme

contains

  ! Catches: a barrier that forgets that it ran into its timeout.
  subroutine barriers()
    integer(gaspi_return_t) :: res
    integer :: times

    do times = 1, 10
      do
        res = gaspi_barrier(GASPI_GROUP_ALL, GASPI_TEST)
        if (res /= GASPI_TIMEOUT) exit
      end do
      call check_ok(res, 'gaspi_barrier')
    end do
  end subroutine barriers

  ! Catches: operations or types that are another one.
  subroutine predefined()
    integer(c_int), target :: small(3), small_out(3)
    integer(c_long), target :: wide(2), wide_out(2)
    real(c_float), target :: single, single_out
    real(c_double), target :: double, double_out
    integer :: n

    n = ranks
    small = [int(rank), -int(rank), 5]
    call check_ok(gaspi_allreduce(c_loc(small), c_loc(small_out), 3, GASPI_OP_MIN, GASPI_TYPE_INT, &
                                  GASPI_GROUP_ALL, long), 'gaspi_allreduce')
    call check(all(small_out == [0, 1 - n, 5]), 'minima of integers')
    call check_ok(gaspi_allreduce(c_loc(small), c_loc(small_out), 3, GASPI_OP_MAX, &
                                  GASPI_TYPE_UINT, GASPI_GROUP_ALL, long), 'gaspi_allreduce')
    call check(small_out(1) == n - 1 .and. small_out(3) == 5, 'maxima of unsigned integers')
    call check(small_out(2) == merge(-1, 0, n > 1), '-1 is the largest unsigned integer')
    wide = [ishft(1_c_long, 40) * (rank + 1), -1_c_long]
    call check_ok(gaspi_allreduce(c_loc(wide), c_loc(wide_out), 2, GASPI_OP_SUM, GASPI_TYPE_LONG, &
                                  GASPI_GROUP_ALL, long), 'gaspi_allreduce')
    call check(wide_out(1) == ishft(1_c_long, 40) * (n * (n + 1) / 2), 'a sum of long integers')
    call check(wide_out(2) == -n, 'a negative sum')
    call check_ok(gaspi_allreduce(c_loc(wide), c_loc(wide_out), 2, GASPI_OP_MIN, GASPI_TYPE_ULONG, &
                                  GASPI_GROUP_ALL, long), 'gaspi_allreduce')
    call check(wide_out(1) == ishft(1_c_long, 40) .and. wide_out(2) == -1, 'minima of unsigned longs')
    single = 0.5 * (rank + 1)
    call check_ok(gaspi_allreduce(c_loc(single), c_loc(single_out), 1, GASPI_OP_MAX, &
                                  GASPI_TYPE_FLOAT, GASPI_GROUP_ALL, long), 'gaspi_allreduce')
    call check(abs(single_out - 0.5 * n) < 1e-6, 'a maximum of reals')
    double = 0.25d0 + rank
    call check_ok(gaspi_allreduce(c_loc(double), c_loc(double_out), 1, GASPI_OP_SUM, &
                                  GASPI_TYPE_DOUBLE, GASPI_GROUP_ALL, long), 'gaspi_allreduce')
    call check(abs(double_out - (0.25d0 * n + n * (n - 1) / 2)) < 1d-12, 'a sum of double precision')
  end subroutine predefined

  ! 11.4.2's form: arrays of the program's own type, all elements in one call.
  function greatest(op_one, op_two, op_res, op_state, num, element_size, timeout) result(res) &
      bind(C, name="spec_fortran_greatest")
    integer(gaspi_number_t), intent(in), value :: num
    integer(c_int), intent(in) :: op_one(num), op_two(num)
    integer(c_int), intent(out) :: op_res(num)
    integer(c_int), intent(inout) :: op_state(2)
    integer(gaspi_size_t), value :: element_size
    integer(gaspi_timeout_t), value :: timeout
    integer(gaspi_return_t) :: res
    integer :: i

    res = GASPI_ERROR
    if (element_size /= 4 .or. timeout == GASPI_TEST) return
    do i = 1, num
      op_res(i) = max(op_one(i), op_two(i))
    end do
    op_state(1) = op_state(1) + 1
    op_state(2) = num
    res = GASPI_SUCCESS
  end function greatest

  ! Catches: an operation that is called with other arguments than its own, or without its state.
  subroutine user_defined()
    integer(c_int), target :: send(50), receive(50), state(2), calls, all_calls
    integer :: i

    send = [(modulo(i * (rank + 3), 97), i=1, 50)]
    receive = -1
    state = 0
    call check_ok(gaspi_allreduce_user(c_loc(send), c_loc(receive), 50, 4_off, c_funloc(greatest), &
                                       c_loc(state), GASPI_GROUP_ALL, long), 'gaspi_allreduce_user')
    do i = 1, 50
      call check_equal(receive(i), maximum_over_ranks(i), 'an element')
    end do
    calls = state(1)
    call check_ok(gaspi_allreduce(c_loc(calls), c_loc(all_calls), 1, GASPI_OP_SUM, GASPI_TYPE_INT, &
                                  GASPI_GROUP_ALL, long), 'gaspi_allreduce')
    call check(all_calls >= ranks - 1, 'one call for every pair at least')
    if (calls > 0) call check_equal(state(2), 50, 'all elements in one call')
  end subroutine user_defined

  function maximum_over_ranks(i) result(most)
    integer, intent(in) :: i
    integer :: most, r

    most = -1
    do r = 0, ranks - 1
      most = max(most, modulo(i * (r + 3), 97))
    end do
  end function maximum_over_ranks

  ! The largest value and where it is; addresses as gaspi_reduce_operation has them.
  function furthest(op_one, op_two, op_res, op_state, num, element_size, timeout) result(res) &
      bind(C, name="spec_fortran_furthest")
    type(c_ptr), value :: op_one, op_two, op_res, op_state
    integer(gaspi_number_t), value :: num
    integer(gaspi_size_t), value :: element_size
    integer(gaspi_timeout_t), value :: timeout
    integer(gaspi_return_t) :: res
    type(extreme), pointer :: one(:), two(:), best(:)

    res = GASPI_ERROR
    if (element_size /= 16 .or. timeout == GASPI_TEST .or. c_associated(op_state)) return
    call c_f_pointer(op_one, one, [num])
    call c_f_pointer(op_two, two, [num])
    call c_f_pointer(op_res, best, [num])
    where (one%value >= two%value)
      best%value = one%value
      best%place = one%place
    elsewhere
      best%value = two%value
      best%place = two%place
    end where
    res = GASPI_SUCCESS
  end function furthest

  subroutine user_defined_pointers()
    procedure(gaspi_reduce_operation), pointer :: operation
    type(extreme), target :: send(2), receive(2)
    integer :: r

    operation => furthest
    send(1) = extreme(real(modulo(int(rank) * 5, 7), c_double), rank)
    send(2) = extreme(-1d0 * rank, rank)
    call check_ok(gaspi_allreduce_user(c_loc(send), c_loc(receive), 2, 16_off, c_funloc(operation), &
                                       c_null_ptr, GASPI_GROUP_ALL, long), 'gaspi_allreduce_user')
    call check(modulo(int(receive(1)%place) * 5, 7) == nint(receive(1)%value), 'value and place')
    call check_equal(nint(receive(1)%value), maxval([(modulo(r * 5, 7), r=0, ranks - 1)]), 'the value')
    call check(receive(2)%place == 0, 'the place of the largest of negative values')
  end subroutine user_defined_pointers
end module collectives
