! After listing 8: a greeting from every rank, in Fortran.
program hello_fortran
  use gaspi_c_binding
  implicit none
  integer(gaspi_return_t) :: res
  integer(gaspi_rank_t) :: rank, ranks
  integer(c_int), target :: mine(1), sum(1)

  res = gaspi_proc_init(GASPI_BLOCK)
  if (res /= GASPI_SUCCESS) stop 1
  res = gaspi_proc_rank(rank)
  res = gaspi_proc_num(ranks)
  print '(a,i0,a,i0)', 'Hello from rank ', rank, ' of ', ranks

  mine = rank + 1
  res = gaspi_allreduce(c_loc(mine), c_loc(sum), 1, GASPI_OP_SUM, GASPI_TYPE_INT, &
                        GASPI_GROUP_ALL, GASPI_BLOCK)
  if (res /= GASPI_SUCCESS .or. sum(1) /= ranks * (ranks + 1) / 2) stop 2
  if (rank == 0) print '(a,i0,a)', 'hello_fortran: right on ', ranks, ' ranks'
  res = gaspi_proc_term(GASPI_BLOCK)
  if (res /= GASPI_SUCCESS) stop 3
end program hello_fortran
