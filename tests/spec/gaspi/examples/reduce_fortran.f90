! After listing 16: a reduction of the program's own in Fortran, here of several elements.
module largest_of
  use gaspi_c_binding
  implicit none

contains

  function largest(op_one, op_two, op_res, op_state, num, element_size, timeout) result(res) &
      bind(C, name="largest")
    integer(gaspi_number_t), intent(in), value :: num
    integer(c_int), intent(in) :: op_one(num), op_two(num)
    integer(c_int), intent(out) :: op_res(num)
    integer(c_int), intent(inout) :: op_state(num)
    integer(gaspi_size_t), value :: element_size
    integer(gaspi_timeout_t), value :: timeout
    integer(gaspi_return_t) :: res

    res = GASPI_ERROR
    if (element_size /= 4 .or. timeout == GASPI_TEST) return
    op_res = max(op_one, op_two)
    op_state = op_state + 1
    res = GASPI_SUCCESS
  end function largest
end module largest_of

program reduce_fortran
  use largest_of
  implicit none
  integer, parameter :: elements = 5
  integer(gaspi_return_t) :: res
  integer(gaspi_rank_t) :: rank, ranks
  integer(c_int), target :: send(elements), receive(elements), state(elements)
  integer :: i, r

  res = gaspi_proc_init(GASPI_BLOCK)
  if (res /= GASPI_SUCCESS) stop 1
  res = gaspi_proc_rank(rank)
  res = gaspi_proc_num(ranks)

  send = [(modulo(i * (rank + 1), 6), i=1, elements)]
  receive = -1
  state = 0
  res = gaspi_allreduce_user(c_loc(send), c_loc(receive), elements, 4_gaspi_size_t, &
                             c_funloc(largest), c_loc(state), GASPI_GROUP_ALL, GASPI_BLOCK)
  if (res /= GASPI_SUCCESS) stop 2
  do i = 1, elements
    if (receive(i) /= maxval([(modulo(i * (r + 1), 6), r=0, ranks - 1)])) stop 3
  end do
  if (any(state /= state(1))) stop 4

  res = gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK) ! all were right
  if (res /= GASPI_SUCCESS) stop 5
  if (rank == 0) print '(a,i0,a)', 'reduce_fortran: right on ', ranks, ' ranks'
  res = gaspi_proc_term(GASPI_BLOCK)
  if (res /= GASPI_SUCCESS) stop 6
end program reduce_fortran
