// Groups and collectives (chapters 6 and 11).
#include <algorithm>
#include <cstring>

#include "api/gaspi/entry.h"
#include "api/gaspi/group.h"

using namespace causeway;
using namespace causeway::gaspi;

namespace causeway::gaspi {
namespace {

gaspi_return_t no_group(const char* call, unsigned group) {
  return refuse(GASPI_ERR_INV_GROUP, call, fmt::format("there is no group {}", group));
}

// Runs `body` with a committed group that this rank is a member of.
template <typename Body>
gaspi_return_t with_committed(const char* call, unsigned group, Body&& body) {
  return with_world(call, [&](World& w) {
    const std::shared_ptr<Group> g = w.groups->find(group);
    if (g == nullptr) return no_group(call, group);
    if (!g->committed) {
      return refuse(GASPI_ERR_INV_GROUP, call, fmt::format("group {} is not committed", group));
    }
    return body(w, *g);
  });
}

// ---- built-in reductions ----

size_t size_of(gaspi_datatype_t type) {
  switch (type) {
    case GASPI_TYPE_INT:
    case GASPI_TYPE_UINT:
    case GASPI_TYPE_FLOAT:
      return 4;
    case GASPI_TYPE_DOUBLE:
    case GASPI_TYPE_LONG:
    case GASPI_TYPE_ULONG:
      return 8;
  }
  return 0;
}

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
  for (size_t i = 0; i < n; ++i) {
    static_cast<T*>(out)[i] = combine_one(operation, left[i], right[i]);
  }
}

void combine(gaspi_operation_t operation, gaspi_datatype_t type, const void* a, const void* b,
             void* out, size_t n) {
  switch (type) {
    case GASPI_TYPE_INT:
      return combine_all<int>(operation, a, b, out, n);
    case GASPI_TYPE_UINT:
      return combine_all<unsigned>(operation, a, b, out, n);
    case GASPI_TYPE_FLOAT:
      return combine_all<float>(operation, a, b, out, n);
    case GASPI_TYPE_DOUBLE:
      return combine_all<double>(operation, a, b, out, n);
    case GASPI_TYPE_LONG:
      return combine_all<long>(operation, a, b, out, n);
    case GASPI_TYPE_ULONG:
      return combine_all<unsigned long>(operation, a, b, out, n);
  }
}

gaspi_return_t reduce(World& w, const char* call, Group& g, const void* send, void* receive,
                      size_t bytes, const Combine& combine_with, gaspi_timeout_t timeout) {
  Deadline deadline(call, timeout);
  deadline.start();
  const gaspi_return_t result = wait_for(
      deadline, [&] { return w.groups->reduce(g, send, receive, bytes, combine_with, deadline); });
  if (result == GASPI_SUCCESS) w.statistics.add(Counter::allreduces);
  if (result != GASPI_ERR_ACTIVE_COLL) return result;
  return refuse(
      result, call,
      fmt::format("{} bytes, while a reduction of {} in this group has timed out and is to "
                  "be completed first",
                  bytes, g.reduction.bytes));
}

// The number of elements is limited by their bytes alone (11.4.1).
gaspi_return_t check_user_reduction(const World& w, const char* call, const void* send,
                                    const void* receive, gaspi_number_t num, gaspi_size_t size,
                                    bool operation) {
  if (send == nullptr || receive == nullptr || !operation) {
    return refuse(GASPI_ERR_NULLPTR, call, "a buffer or the operation is NULL");
  }
  if (num == 0) return refuse(GASPI_ERR_INV_NUM, call, "there are no elements");
  if (size == 0 || size > w.config.allreduce_buf_size / num) {  // a product could overflow
    return refuse(GASPI_ERR_INV_SIZE, call,
                  fmt::format("{} elements of {} bytes; at most {} bytes fit", num, size,
                              w.config.allreduce_buf_size));
  }
  return GASPI_SUCCESS;
}

}  // namespace
}  // namespace causeway::gaspi

CAUSEWAY_API gaspi_return_t cwy_gaspi_group_create_v1(gaspi_group_t* group) {
  constexpr const char* kCall = "gaspi_group_create()";
  return with_world(kCall, [&](World& w) {
    if (group == nullptr) return refuse(GASPI_ERR_NULLPTR, kCall, "group is NULL");
    const gaspi_return_t result = w.groups->create(group);
    if (result == GASPI_SUCCESS) return result;
    return refuse(result, kCall, fmt::format("there are {} groups, group_max", w.groups->count()));
  });
}

CAUSEWAY_API gaspi_return_t cwy_gaspi_group_add_v1(gaspi_group_t group, gaspi_rank_t rank) {
  constexpr const char* kCall = "gaspi_group_add()";
  return with_world(kCall, [&](World& w) {
    const gaspi_return_t known = require_rank(w, kCall, rank);
    if (known != GASPI_SUCCESS) return known;
    const gaspi_return_t result = w.groups->add(group, rank);
    if (result == GASPI_SUCCESS) return result;
    return refuse(
        result, kCall,
        fmt::format("group {} does not exist, is committed, or has rank {} already", group, rank));
  });
}

CAUSEWAY_API gaspi_return_t cwy_gaspi_group_commit_v1(gaspi_group_t group,
                                                      gaspi_timeout_t timeout) {
  constexpr const char* kCall = "gaspi_group_commit()";
  return with_world(kCall, [&](World& w) {
    const std::shared_ptr<Group> g = w.groups->find(group);
    if (g == nullptr) return no_group(kCall, group);
    Deadline deadline(kCall, timeout);
    const gaspi_return_t result = wait_for(deadline, [&] { return w.groups->commit(*g); });
    if (result != GASPI_ERR_INV_GROUP) return result;
    return refuse(result, kCall,
                  fmt::format("this rank, {}, is not a member of group {}", w.rank, group));
  });
}

CAUSEWAY_API gaspi_return_t cwy_gaspi_group_delete_v1(gaspi_group_t group) {
  constexpr const char* kCall = "gaspi_group_delete()";
  return with_world(kCall, [&](World& w) {
    if (group == GASPI_GROUP_ALL) {
      return refuse(GASPI_ERR_INV_GROUP, kCall, "GASPI_GROUP_ALL cannot be deleted");
    }
    const gaspi_return_t result = w.groups->remove(group);
    return result == GASPI_SUCCESS ? result : no_group(kCall, group);
  });
}

CAUSEWAY_API gaspi_return_t cwy_gaspi_group_num_v1(gaspi_number_t* group_num) {
  return tell("gaspi_group_num()", group_num, [](World& w) { return w.groups->count(); });
}

CAUSEWAY_API gaspi_return_t cwy_gaspi_group_size_v1(gaspi_group_t group,
                                                    gaspi_number_t* group_size) {
  constexpr const char* kCall = "gaspi_group_size()";
  return with_world(kCall, [&](World& w) {
    if (group_size == nullptr) return refuse(GASPI_ERR_NULLPTR, kCall, "group_size is NULL");
    const std::shared_ptr<Group> g = w.groups->find(group);
    if (g == nullptr) return no_group(kCall, group);
    *group_size = g->size();
    return GASPI_SUCCESS;
  });
}

CAUSEWAY_API gaspi_return_t cwy_gaspi_group_ranks_v1(gaspi_group_t group,
                                                     gaspi_rank_t* group_ranks) {
  constexpr const char* kCall = "gaspi_group_ranks()";
  return with_world(kCall, [&](World& w) {
    if (group_ranks == nullptr) return refuse(GASPI_ERR_NULLPTR, kCall, "group_ranks is NULL");
    const std::shared_ptr<Group> g = w.groups->find(group);
    if (g == nullptr) return no_group(kCall, group);
    std::copy(g->ranks.begin(), g->ranks.end(), group_ranks);
    return GASPI_SUCCESS;
  });
}

CAUSEWAY_API gaspi_return_t cwy_gaspi_barrier_v1(gaspi_group_t group, gaspi_timeout_t timeout) {
  return with_committed("gaspi_barrier()", group, [&](World& w, Group& g) {
    Deadline deadline("gaspi_barrier()", timeout);
    const gaspi_return_t result =
        wait_for(deadline, [&] { return w.groups->barrier(g, Kind::barrier, g.barrier); });
    if (result == GASPI_SUCCESS) w.statistics.add(Counter::barriers);
    return result;
  });
}

CAUSEWAY_API gaspi_return_t cwy_gaspi_allreduce_v1(gaspi_const_pointer_t buffer_send,
                                                   gaspi_pointer_t buffer_receive,
                                                   gaspi_number_t num, gaspi_operation_t operation,
                                                   gaspi_datatype_t datatype, gaspi_group_t group,
                                                   gaspi_timeout_t timeout) {
  constexpr const char* kCall = "gaspi_allreduce()";
  return with_committed(kCall, group, [&](World& w, Group& g) {
    if (buffer_send == nullptr || buffer_receive == nullptr) {
      return refuse(GASPI_ERR_NULLPTR, kCall, "a buffer is NULL");
    }
    if (num == 0 || num > w.config.allreduce_elem_max) {
      return refuse(GASPI_ERR_INV_NUM, kCall,
                    fmt::format("{} elements; expected 1 to {}", num, w.config.allreduce_elem_max));
    }
    if (size_of(datatype) == 0 || operation < GASPI_OP_MIN || operation > GASPI_OP_SUM) {
      return refuse(GASPI_ERROR, kCall,
                    fmt::format("operation {} on type {} does not exist",
                                static_cast<int>(operation), static_cast<int>(datatype)));
    }
    return reduce(
        w, kCall, g, buffer_send, buffer_receive, num * size_of(datatype),
        [&](const void* a, const void* b, void* out, gaspi_timeout_t) {
          combine(operation, datatype, a, b, out, num);
          return GASPI_SUCCESS;
        },
        timeout);
  });
}

CAUSEWAY_API gaspi_return_t cwy_gaspi_allreduce_user_v1(
    gaspi_const_pointer_t buffer_send, gaspi_pointer_t buffer_receive, gaspi_number_t num,
    gaspi_size_t size_element, gaspi_reduce_operation_t reduce_operation,
    gaspi_reduce_state_t reduce_state, gaspi_group_t group, gaspi_timeout_t timeout) {
  constexpr const char* kCall = "gaspi_allreduce_user()";
  return with_committed(kCall, group, [&](World& w, Group& g) {
    const gaspi_return_t wrong = check_user_reduction(w, kCall, buffer_send, buffer_receive, num,
                                                      size_element, reduce_operation != nullptr);
    if (wrong != GASPI_SUCCESS) return wrong;
    const auto each = [&](const void* a, const void* b, void* out, gaspi_timeout_t left) {
      for (gaspi_number_t i = 0; i < num; ++i) {
        const size_t at = i * size_element;
        const gaspi_return_t result =
            reduce_operation(static_cast<const char*>(a) + at, static_cast<const char*>(b) + at,
                             static_cast<char*>(out) + at, reduce_state, left);
        if (result != GASPI_SUCCESS) return result;
      }
      return GASPI_SUCCESS;
    };
    return reduce(w, kCall, g, buffer_send, buffer_receive, num * size_element, each, timeout);
  });
}

CAUSEWAY_API gaspi_return_t cwy_gaspi_allreduce_user_counted_v1(
    gaspi_const_pointer_t buffer_send, gaspi_pointer_t buffer_receive, gaspi_number_t num,
    gaspi_size_t size_element, gaspi_reduce_operation_counted_t reduce_operation,
    gaspi_reduce_state_t reduce_state, gaspi_group_t group, gaspi_timeout_t timeout) {
  constexpr const char* kCall = "gaspi_allreduce_user()";
  return with_committed(kCall, group, [&](World& w, Group& g) {
    const gaspi_return_t wrong = check_user_reduction(w, kCall, buffer_send, buffer_receive, num,
                                                      size_element, reduce_operation != nullptr);
    if (wrong != GASPI_SUCCESS) return wrong;
    const auto all = [&](const void* a, const void* b, void* out, gaspi_timeout_t left) {
      return reduce_operation(a, b, out, reduce_state, num, size_element, left);
    };
    return reduce(w, kCall, g, buffer_send, buffer_receive, num * size_element, all, timeout);
  });
}
