! Chapter 6.
module groups
  use testing
  implicit none
  private
  public :: halves

contains

  ! Catches: members that are not those added, a list of another kind, a barrier of other ranks.
  subroutine halves()
    integer(gaspi_group_t) :: mine
    integer(gaspi_number_t) :: before, count, members
    integer(gaspi_rank_t), allocatable, target :: list(:)
    integer(gaspi_rank_t) :: r
    integer(c_int), target :: one, sum
    integer :: i

    call check_ok(gaspi_group_num(before), 'gaspi_group_num')
    call check_ok(gaspi_group_create(mine), 'gaspi_group_create')
    call check(mine /= GASPI_GROUP_ALL, 'a group of its own')
    do r = modulo(rank, 2_gaspi_rank_t), ranks - 1_gaspi_rank_t, 2_gaspi_rank_t
      call check_ok(gaspi_group_add(mine, r), 'gaspi_group_add')
    end do
    call check_is(gaspi_group_add(mine, ranks), GASPI_ERR_INV_RANK, 'gaspi_group_add of nobody')
    call check_ok(gaspi_group_commit(mine, long), 'gaspi_group_commit')
    call check_ok(gaspi_group_num(count), 'gaspi_group_num')
    call check_equal(count, before + 1, 'groups')
    call check_ok(gaspi_group_size(mine, members), 'gaspi_group_size')
    call check_equal(members, (ranks - modulo(rank, 2_gaspi_rank_t) + 1) / 2, 'members')
    allocate (list(members + 1), source=-1_gaspi_rank_t)
    call check_ok(gaspi_group_ranks(mine, c_loc(list)), 'gaspi_group_ranks')
    do i = 1, members
      call check_equal(int(list(i)), modulo(rank, 2_gaspi_rank_t) + 2 * (i - 1), 'a member')
    end do
    call check_equal(int(list(members + 1)), -1, 'what lies behind the last member')
    one = 1 + rank
    call check_ok(gaspi_allreduce(c_loc(one), c_loc(sum), 1, GASPI_OP_SUM, GASPI_TYPE_INT, mine, &
                                  long), 'gaspi_allreduce')
    call check_equal(sum, members + int(sum_of(list(:members))), 'the sum over the group')
    call check_ok(gaspi_barrier(mine, long), 'gaspi_barrier')
    call check_ok(gaspi_group_delete(mine), 'gaspi_group_delete')
    call check_is(gaspi_barrier(mine, long), GASPI_ERR_INV_GROUP, 'gaspi_barrier of no group')
  end subroutine halves

  pure function sum_of(list) result(total)
    integer(gaspi_rank_t), intent(in) :: list(:)
    integer :: total

    total = sum(int(list))
  end function sum_of
end module groups
