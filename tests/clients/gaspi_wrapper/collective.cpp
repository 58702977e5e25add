// Groups, barriers and reductions, those of the program's own included.
#include <cstdio>

#include "tide.hpp"

namespace tide {

Group::Group(const std::vector<gaspi_rank_t>& members) {
  check(gaspi_group_create(&id_), "gaspi_group_create");
  for (gaspi_rank_t member : members) check(gaspi_group_add(id_, member), "gaspi_group_add");
  check(gaspi_group_commit(id_, GASPI_BLOCK), "gaspi_group_commit");
}
Group::~Group() {
  if (gaspi_group_delete(id_) != GASPI_SUCCESS)
    std::fprintf(stderr, "group %d is not deleted\n", static_cast<int>(id_));
}
std::vector<gaspi_rank_t> Group::members() const {
  gaspi_number_t count;
  check(gaspi_group_size(id_, &count), "gaspi_group_size");
  std::vector<gaspi_rank_t> list(count);
  check(gaspi_group_ranks(id_, list.data()), "gaspi_group_ranks");
  return list;
}

void barrier(gaspi_group_t group) {
  check(gaspi_barrier(group, GASPI_BLOCK), "gaspi_barrier");
}

// In pieces of what one call takes.
void all_reduce(const void* mine, void* all, std::size_t count, gaspi_operation_t operation,
                gaspi_datatype_t type, gaspi_group_t group) {
  gaspi_number_t most;
  check(gaspi_allreduce_elem_max(&most), "gaspi_allreduce_elem_max");
  const std::size_t size =
      type == GASPI_TYPE_INT || type == GASPI_TYPE_UINT || type == GASPI_TYPE_FLOAT
          ? sizeof(int)
          : sizeof(double);
  for (std::size_t begin = 0; begin < count; begin += most) {
    const std::size_t length = count - begin < most ? count - begin : most;
    check(gaspi_allreduce(static_cast<const char*>(mine) + begin * size,
                          static_cast<char*>(all) + begin * size,
                          static_cast<gaspi_number_t>(length), operation, type, group, GASPI_BLOCK),
          "gaspi_allreduce");
  }
}

namespace {

// In the field's form: all elements of a call at once.
gaspi_return_t larger(gaspi_const_pointer_t one, gaspi_const_pointer_t two, gaspi_pointer_t result,
                      gaspi_reduce_state_t state, gaspi_number_t count, gaspi_size_t size,
                      gaspi_timeout_t) {
  if (size != sizeof(Place)) return GASPI_ERROR;
  ++*static_cast<int*>(state);
  for (gaspi_number_t i = 0; i < count; ++i) {
    const Place& a = static_cast<const Place*>(one)[i];
    const Place& b = static_cast<const Place*>(two)[i];
    static_cast<Place*>(result)[i] =
        a.value > b.value || (!(b.value > a.value) && a.place < b.place) ? a : b;
  }
  return GASPI_SUCCESS;
}

}  // namespace

Place all_largest(Place mine, gaspi_group_t group) {
  Place all = mine;
  int calls = 0;
  check(gaspi_allreduce_user(&mine, &all, 1, sizeof mine, larger, &calls, group, GASPI_BLOCK),
        "gaspi_allreduce_user");
  return all;
}

}  // namespace tide
