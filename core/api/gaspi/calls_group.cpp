// Groups and collectives (chapters 6 and 11).
#include <algorithm>

#include "api/gaspi/entry.h"
#include "api/gaspi/group.h"

namespace causeway::gaspi {
namespace {

// A collective of a committed group that this rank is a member of.
template <typename Body>
gaspi_return_t collective(const char* name, Kind kind, unsigned group, gaspi_timeout_t timeout,
                          Body&& body) {
  return timed_call(name, timeout, [&](World& w, Deadline& deadline) {
    const std::shared_ptr<Group> g = w.groups->at(group);
    if (!g->committed) refuse(GASPI_ERR_INV_GROUP, "group {} is not committed", group);
    is_collective(deadline, kind, group, *g);
    return body(w, *g, deadline);
  });
}

// ---- reductions ----

template <typename T>
T combine_one(gaspi_operation_t operation, T a, T b) {
  switch (operation) {
    case GASPI_OP_MIN:
      return b < a ? b : a;
    case GASPI_OP_MAX:
      return a < b ? b : a;
    case GASPI_OP_SUM:
      // Signed sums wrap.
      if constexpr (std::is_integral_v<T>) {
        using U = std::make_unsigned_t<T>;
        return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
      } else {
        return a + b;
      }
  }
  return a;
}

template <typename T>
void combine_all(gaspi_operation_t operation, const void* a, const void* b, void* out, size_t n) {
  // Buffers of strings are aligned for any type.
  const T* const left = static_cast<const T*>(a);
  const T* const right = static_cast<const T*>(b);
  for (size_t i = 0; i < n; ++i)
    static_cast<T*>(out)[i] = combine_one(operation, left[i], right[i]);
}

struct Type {
  size_t size;
  decltype(&combine_all<int>) combine;
};
template <typename T>
constexpr Type kTypeOf{sizeof(T), combine_all<T>};
constexpr Type kTypes[] = {kTypeOf<int>,    kTypeOf<unsigned>, kTypeOf<float>,
                           kTypeOf<double>, kTypeOf<long>,     kTypeOf<unsigned long>};
static_assert(GASPI_TYPE_INT == 0 && GASPI_TYPE_UINT == 1 && GASPI_TYPE_FLOAT == 2 &&
              GASPI_TYPE_DOUBLE == 3 && GASPI_TYPE_LONG == 4 && GASPI_TYPE_ULONG == 5);

gaspi_return_t reduce(World& w, Group& g, const void* send, void* receive, size_t bytes,
                      const Combine& combine, Deadline& deadline) {
  deadline.start();
  const gaspi_return_t result = wait_for(
      deadline, [&] { return w.groups->reduce(g, send, receive, bytes, combine, deadline); });
  if (result == GASPI_SUCCESS) w.statistics.add(Counter::allreduces);
  if (result == GASPI_ERR_ACTIVE_COLL) {
    refuse(result,
           "{} bytes, while a reduction of {} in this group has timed out and is to be completed "
           "first",
           bytes, g.reduction.bytes);
  }
  return result;
}

// Both forms of gaspi_allreduce_user: `combine` stands for the user's operation. The number of
// elements is limited by their bytes alone (11.4.1).
gaspi_return_t reduce_by_user(const void* send, void* receive, gaspi_number_t num,
                              gaspi_size_t size, bool operation, unsigned group,
                              gaspi_timeout_t timeout, const Combine& combine) {
  return collective("gaspi_allreduce_user()", Kind::allreduce, group, timeout,
                    [&](World& w, Group& g, Deadline& deadline) {
                      if (send == nullptr || receive == nullptr || !operation)
                        refuse(GASPI_ERR_NULLPTR, "a buffer or the operation is NULL");
                      if (num == 0) refuse(GASPI_ERR_INV_NUM, "there are no elements");
                      const gaspi_size_t most = w.config.allreduce_buf_size;
                      if (size == 0 || size > most / num)  // a product could overflow
                        refuse(GASPI_ERR_INV_SIZE, "{} elements of {} bytes; at most {} bytes fit",
                               num, size, most);
                      return reduce(w, g, send, receive, num * size, combine, deadline);
                    });
}

}  // namespace

gaspi_return_t entry_group_create(gaspi_group_t* group) {
  return tell("gaspi_group_create()", group, "group", [](World& w) { return w.groups->create(); });
}

gaspi_return_t entry_group_add(gaspi_group_t group, gaspi_rank_t rank) {
  return call("gaspi_group_add()", [&](World& w) {
    require_rank(w, rank);
    const gaspi_return_t result = w.groups->add(group, rank);
    if (result == GASPI_SUCCESS) return;
    refuse(result, "group {} does not exist, is committed, or has rank {} already", group, rank);
  });
}

gaspi_return_t entry_group_commit(gaspi_group_t group, gaspi_timeout_t timeout) {
  return timed_call("gaspi_group_commit()", timeout, [&](World& w, Deadline& deadline) {
    const std::shared_ptr<Group> g = w.groups->at(group);
    deadline.is_for("group {} to be committed by its {} members", group, g->size());
    const gaspi_return_t result = wait_for(deadline, [&] { return w.groups->commit(*g); });
    if (result != GASPI_ERR_INV_GROUP) return result;
    refuse(result, "this rank, {}, is not a member of group {}", w.rank, group);
  });
}

gaspi_return_t entry_group_delete(gaspi_group_t group) {
  return call("gaspi_group_delete()", [&](World& w) {
    if (group == GASPI_GROUP_ALL) refuse(GASPI_ERR_INV_GROUP, "GASPI_GROUP_ALL cannot be deleted");
    w.groups->remove(group);
  });
}

gaspi_return_t entry_group_num(gaspi_number_t* group_num) {
  return tell("gaspi_group_num()", group_num, "the pointer",
              [](World& w) { return w.groups->count(); });
}

gaspi_return_t entry_group_size(gaspi_group_t group, gaspi_number_t* group_size) {
  return tell("gaspi_group_size()", group_size, "group_size",
              [&](World& w) { return w.groups->at(group)->size(); });
}

gaspi_return_t entry_group_ranks(gaspi_group_t group, gaspi_rank_t* group_ranks) {
  return call("gaspi_group_ranks()", [&](World& w) {
    require_pointer(group_ranks, "group_ranks");
    std::ranges::copy(w.groups->at(group)->ranks, group_ranks);
  });
}

gaspi_return_t entry_barrier(gaspi_group_t group, gaspi_timeout_t timeout) {
  return collective("gaspi_barrier()", Kind::barrier, group, timeout,
                    [&](World& w, Group& g, Deadline& deadline) {
                      const gaspi_return_t result = wait_for(
                          deadline, [&] { return w.groups->barrier(g, Kind::barrier, g.barrier); });
                      if (result == GASPI_SUCCESS) w.statistics.add(Counter::barriers);
                      return result;
                    });
}

gaspi_return_t entry_allreduce(gaspi_const_pointer_t send, gaspi_pointer_t receive,
                               gaspi_number_t num, gaspi_operation_t operation,
                               gaspi_datatype_t datatype, gaspi_group_t group,
                               gaspi_timeout_t timeout) {
  return collective("gaspi_allreduce()", Kind::allreduce, group, timeout,
                    [&](World& w, Group& g, Deadline& deadline) {
                      if (send == nullptr || receive == nullptr)
                        refuse(GASPI_ERR_NULLPTR, "a buffer is NULL");
                      if (num == 0 || num > w.config.allreduce_elem_max)
                        refuse(GASPI_ERR_INV_NUM, "{} elements; expected 1 to {}", num,
                               w.config.allreduce_elem_max);
                      if (static_cast<size_t>(datatype) >= std::size(kTypes) ||
                          operation < GASPI_OP_MIN || operation > GASPI_OP_SUM)
                        refuse(GASPI_ERROR, "operation {} on type {} does not exist",
                               static_cast<int>(operation), static_cast<int>(datatype));
                      const Type& type = kTypes[datatype];
                      const auto all = [&](const void* a, const void* b, void* out, size_t&,
                                           gaspi_timeout_t) {
                        type.combine(operation, a, b, out, num);
                        return GASPI_SUCCESS;
                      };
                      return reduce(w, g, send, receive, num * type.size, all, deadline);
                    });
}

gaspi_return_t entry_allreduce_user(gaspi_const_pointer_t send, gaspi_pointer_t receive,
                                    gaspi_number_t num, gaspi_size_t size,
                                    gaspi_reduce_operation_t operation, gaspi_reduce_state_t state,
                                    gaspi_group_t group, gaspi_timeout_t timeout) {
  const auto each = [&](const void* a, const void* b, void* out, size_t& done,
                        gaspi_timeout_t left) {
    for (; done < num * size; done += size) {
      const gaspi_return_t result =
          operation(static_cast<const char*>(a) + done, static_cast<const char*>(b) + done,
                    static_cast<char*>(out) + done, state, left);
      if (result != GASPI_SUCCESS) return result;
    }
    return GASPI_SUCCESS;
  };
  return reduce_by_user(send, receive, num, size, operation != nullptr, group, timeout, each);
}

gaspi_return_t entry_allreduce_user_counted(gaspi_const_pointer_t send, gaspi_pointer_t receive,
                                            gaspi_number_t num, gaspi_size_t size,
                                            gaspi_reduce_operation_counted_t operation,
                                            gaspi_reduce_state_t state, gaspi_group_t group,
                                            gaspi_timeout_t timeout) {
  const auto all = [&](const void* a, const void* b, void* out, size_t&, gaspi_timeout_t left) {
    return operation(a, b, out, state, num, size, left);
  };
  return reduce_by_user(send, receive, num, size, operation != nullptr, group, timeout, all);
}

}  // namespace causeway::gaspi
