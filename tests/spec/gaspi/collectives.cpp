// Chapters 6 and 11: groups, barrier, reductions.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "testing.h"

using namespace spec;

namespace {

gaspi_return_t larger(gaspi_const_pointer_t a, gaspi_const_pointer_t b, gaspi_pointer_t out,
                      gaspi_reduce_state_t state, gaspi_timeout_t) {
  ++*static_cast<unsigned*>(state);
  const int x = *static_cast<const int*>(a), y = *static_cast<const int*>(b);
  *static_cast<int*>(out) = std::max(x, y);
  return GASPI_SUCCESS;
}

struct Pair {
  double value;
  long where;
};
gaspi_return_t smallest_where(gaspi_const_pointer_t a, gaspi_const_pointer_t b, gaspi_pointer_t out,
                              gaspi_reduce_state_t, gaspi_number_t num, gaspi_size_t size,
                              gaspi_timeout_t) {
  if (size != sizeof(Pair)) return GASPI_ERROR;
  const auto *x = static_cast<const Pair*>(a), *y = static_cast<const Pair*>(b);
  for (gaspi_number_t i = 0; i < num; ++i)
    static_cast<Pair*>(out)[i] = x[i].value <= y[i].value ? x[i] : y[i];
  return GASPI_SUCCESS;
}

// Says that it has no time, twice out of three times.
gaspi_return_t reluctant(gaspi_const_pointer_t a, gaspi_const_pointer_t b, gaspi_pointer_t out,
                         gaspi_reduce_state_t state, gaspi_timeout_t) {
  if (++*static_cast<unsigned*>(state) % 3 != 0) return GASPI_TIMEOUT;
  *static_cast<long*>(out) = *static_cast<const long*>(a) + *static_cast<const long*>(b);
  return GASPI_SUCCESS;
}

gaspi_return_t combine_bits(gaspi_const_pointer_t a, gaspi_const_pointer_t b, gaspi_pointer_t out,
                            gaspi_reduce_state_t, gaspi_number_t num, gaspi_size_t,
                            gaspi_timeout_t) {
  const auto *x = static_cast<const unsigned char*>(a), *y = static_cast<const unsigned char*>(b);
  for (gaspi_number_t i = 0; i < num; ++i)
    static_cast<unsigned char*>(out)[i] = static_cast<unsigned char>(x[i] | y[i]);
  return GASPI_SUCCESS;
}

template <typename T>
void check_type(gaspi_datatype_t type) {
  constexpr gaspi_number_t kNum = 5;
  const auto n = static_cast<T>(job().size);
  T own[kNum], low[kNum], high[kNum], sum[kNum];
  for (gaspi_number_t i = 0; i < kNum; ++i) own[i] = static_cast<T>(job().rank + i);
  CHECK_OK(gaspi_allreduce(own, low, kNum, GASPI_OP_MIN, type, GASPI_GROUP_ALL, kLong));
  CHECK_OK(gaspi_allreduce(own, high, kNum, GASPI_OP_MAX, type, GASPI_GROUP_ALL, kLong));
  CHECK_OK(gaspi_allreduce(own, sum, kNum, GASPI_OP_SUM, type, GASPI_GROUP_ALL, kLong));
  for (gaspi_number_t i = 0; i < kNum; ++i) {
    CHECK_EQ(low[i], static_cast<T>(i));
    CHECK_EQ(high[i], static_cast<T>(job().size - 1u + i));
    CHECK_EQ(sum[i], static_cast<T>(n * (n - 1) / 2 + n * static_cast<T>(i)));
  }
}

}  // namespace

// Catches: a type or an operation that is computed as another one.
SPEC_CASE(collectives, allreduce_types) {
  check_type<int>(GASPI_TYPE_INT);
  check_type<unsigned>(GASPI_TYPE_UINT);
  check_type<long>(GASPI_TYPE_LONG);
  check_type<unsigned long>(GASPI_TYPE_ULONG);
  check_type<float>(GASPI_TYPE_FLOAT);
  check_type<double>(GASPI_TYPE_DOUBLE);
  const int own = job().rank == 0 ? -5 : 3;
  int low = 0;
  CHECK_OK(gaspi_allreduce(&own, &low, 1, GASPI_OP_MIN, GASPI_TYPE_INT, GASPI_GROUP_ALL, kLong));
  CHECK_EQ(low, -5);
}

// Catches: the largest reduction that does not fit, one beyond it that is not refused, members that
// get different bits.
SPEC_CASE(collectives, allreduce_largest) {
  gaspi_number_t most = 0;
  gaspi_size_t bytes = 0;
  CHECK_OK(gaspi_allreduce_elem_max(&most));
  CHECK_OK(gaspi_allreduce_buf_size(&bytes));
  CHECK(most >= 255);
  CHECK(bytes >= 2040);
  std::vector<double> own(most), sum(most), least(most), largest(most);
  Random random(seed() + job().rank);
  for (double& v : own) v = static_cast<double>(random.next() >> 20) / 3e9;
  CHECK_OK(gaspi_allreduce(own.data(), sum.data(), most, GASPI_OP_SUM, GASPI_TYPE_DOUBLE,
                           GASPI_GROUP_ALL, kLong));
  CHECK_OK(gaspi_allreduce(sum.data(), least.data(), most, GASPI_OP_MIN, GASPI_TYPE_DOUBLE,
                           GASPI_GROUP_ALL, kLong));
  CHECK_OK(gaspi_allreduce(sum.data(), largest.data(), most, GASPI_OP_MAX, GASPI_TYPE_DOUBLE,
                           GASPI_GROUP_ALL, kLong));
  CHECK(least == largest);
  CHECK_EQ(gaspi_allreduce(own.data(), sum.data(), most + 1, GASPI_OP_SUM, GASPI_TYPE_DOUBLE,
                           GASPI_GROUP_ALL, kLong),
           GASPI_ERR_INV_NUM);
  CHECK_EQ(gaspi_allreduce(nullptr, sum.data(), 1, GASPI_OP_SUM, GASPI_TYPE_DOUBLE, GASPI_GROUP_ALL,
                           kLong),
           GASPI_ERR_NULLPTR);
}

// Catches: an operation of the user's that is called with the wrong operands, or whose state or
// timeout is lost; a reduction that a timeout of the operation sets back to its first element,
// which never ends; both kinds of prototype.
SPEC_CASE(collectives, allreduce_user) {
  unsigned calls = 0;
  int own[3] = {job().rank, -static_cast<int>(job().rank), 7}, out[3] = {};
  CHECK_OK(gaspi_allreduce_user(own, out, 3, sizeof(int), larger, &calls, GASPI_GROUP_ALL, kLong));
  CHECK_EQ(out[0], job().size - 1);
  CHECK_EQ(out[1], 0);
  CHECK_EQ(out[2], 7);
  CHECK_EQ(calls % 3, 0u);
  const Pair mine[2] = {{10.0 - job().rank, job().rank}, {double(job().rank), job().rank}};
  Pair found[2];
  CHECK_OK(gaspi_allreduce_user(mine, found, 2, sizeof(Pair), smallest_where, nullptr,
                                GASPI_GROUP_ALL, kLong));
  CHECK_EQ(found[0].where, job().size - 1);
  CHECK_EQ(found[1].where, 0);
  const gaspi_reduce_operation_counted_t by_name = smallest_where;
  CHECK_OK(gaspi_allreduce_user_counted(mine, found, 2, sizeof(Pair), by_name, nullptr,
                                        GASPI_GROUP_ALL, kLong));
  CHECK_EQ(found[0].where, job().size - 1);
  const long one[] = {1, 2, 3, 4, 5};
  long all[5] = {};
  unsigned tries = 0;
  gaspi_return_t result;
  do {
    result = gaspi_allreduce_user(one, all, 5, sizeof(long), reluctant, &tries, GASPI_GROUP_ALL,
                                  GASPI_TEST);
  } while (result == GASPI_TIMEOUT && tries < 1000);
  CHECK_EQ(result, GASPI_SUCCESS);
  for (int i = 0; i < 5; ++i) CHECK_EQ(all[i], one[i] * job().size);
  gaspi_size_t bytes = 0;
  CHECK_OK(gaspi_allreduce_buf_size(&bytes));
  CHECK_EQ(gaspi_allreduce_user(own, out, 2, bytes, larger, &calls, GASPI_GROUP_ALL, kLong),
           GASPI_ERR_INV_SIZE);
}

// Catches: a number of elements that is limited by more than their bytes (11.4.1).
SPEC_CASE(collectives, allreduce_user_of_many) {
  gaspi_size_t bytes = 0;
  CHECK_OK(gaspi_allreduce_buf_size(&bytes));
  std::vector<unsigned char> own(bytes + 1, static_cast<unsigned char>(1u << job().rank % 8)),
      all(bytes);
  unsigned expected = 0;
  for (gaspi_rank_t r = 0; r < job().size; ++r) expected |= 1u << r % 8;
  const auto reduce = [&](gaspi_number_t num) {
    return gaspi_allreduce_user(own.data(), all.data(), num, 1, combine_bits, nullptr,
                                GASPI_GROUP_ALL, kLong);
  };
  CHECK_OK(reduce(static_cast<gaspi_number_t>(bytes)));
  CHECK_EQ(all.front(), expected);
  CHECK_EQ(all.back(), expected);
  CHECK_EQ(reduce(static_cast<gaspi_number_t>(bytes + 1)), GASPI_ERR_INV_SIZE);
}

// Catches: operands that are taken later than by the first call (11.3.1), and another reduction
// that is taken for the next call of the one that timed out.
SPEC_CASE(collectives, allreduce_begun_early, 2) {
  for (gaspi_rank_t r = 0; r < job().size; ++r) {
    int own[2] = {5, 7}, sum[2] = {};
    const auto reduce = [&](gaspi_number_t num, gaspi_timeout_t timeout) {
      return gaspi_allreduce(own, sum, num, GASPI_OP_SUM, GASPI_TYPE_INT, GASPI_GROUP_ALL, timeout);
    };
    if (job().rank == r) {
      CHECK_EQ(reduce(1, GASPI_TEST), GASPI_TIMEOUT);  // the others are not told yet
      own[0] = 1000;
      CHECK_EQ(reduce(2, GASPI_TEST), GASPI_ERR_ACTIVE_COLL);
      for (gaspi_rank_t to = 0; to < job().size; ++to) {
        if (to != r) CHECK_OK(gaspi_notify(0, to, r, 1, 0, kLong));
      }
    } else {
      CHECK_EQ(take_note(0, r), 1u);
    }
    CHECK_OK(reduce(1, kLong));
    CHECK_EQ(sum[0], 5 * job().size);
    CHECK_OK(reduce(2, kLong));
    CHECK_EQ(sum[0], 5 * (job().size - 1) + 1000);
    CHECK_EQ(sum[1], 7 * job().size);
    CHECK_OK(gaspi_wait(0, kLong));
  }
}

// Catches: a barrier that lets a member through early, or forgets a call that timed out; a
// reduction of the same group that it disturbs.
SPEC_CASE(collectives, barrier_in_portions) {
  for (unsigned round = 0; round < 20; ++round) {
    CHECK_OK(gaspi_notify(0, round % job().size, job().rank, round + 1, 0, kLong));
    long one = 1, all = 0;
    gaspi_return_t barrier_result = GASPI_TIMEOUT, reduce_result = GASPI_TIMEOUT;
    while (barrier_result == GASPI_TIMEOUT || reduce_result == GASPI_TIMEOUT) {
      if (barrier_result == GASPI_TIMEOUT)
        barrier_result = gaspi_barrier(GASPI_GROUP_ALL, round % 2 == 0 ? GASPI_TEST : 1);
      if (reduce_result == GASPI_TIMEOUT)
        reduce_result = gaspi_allreduce(&one, &all, 1, GASPI_OP_SUM, GASPI_TYPE_LONG,
                                        GASPI_GROUP_ALL, GASPI_TEST);
    }
    CHECK_EQ(barrier_result, GASPI_SUCCESS);
    CHECK_EQ(reduce_result, GASPI_SUCCESS);
    CHECK_EQ(all, job().size);
    if (job().rank == round % job().size) {
      for (gaspi_rank_t r = 0; r < job().size; ++r) CHECK_EQ(take_note(0, r), round + 1);
    }
    CHECK_OK(gaspi_wait(0, kLong));
    barrier();
  }
}

// Catches: members that are not sorted, groups that mix their collectives, ids that leak.
SPEC_CASE(collectives, groups) {
  gaspi_number_t before = 0, now = 0, size = 0;
  CHECK_OK(gaspi_group_num(&before));
  CHECK_OK(gaspi_group_size(GASPI_GROUP_ALL, &size));
  CHECK_EQ(size, job().size);
  // Two overlapping groups: the even ranks, and all in a group that was filled from behind.
  gaspi_group_t even = 0, all = 0;
  CHECK_OK(gaspi_group_create(&even));
  CHECK_OK(gaspi_group_create(&all));
  for (gaspi_rank_t r = job().size; r-- > 0;) {
    if (r % 2 == 0) CHECK_OK(gaspi_group_add(even, r));
    CHECK_OK(gaspi_group_add(all, r));
  }
  CHECK_EQ(gaspi_group_add(all, 0), GASPI_ERR_INV_RANK);
  CHECK_EQ(gaspi_group_add(all, job().size), GASPI_ERR_INV_RANK);
  CHECK_OK(gaspi_group_size(all, &size));
  CHECK_EQ(size, job().size);
  std::vector<gaspi_rank_t> ranks(size);
  CHECK_OK(gaspi_group_ranks(all, ranks.data()));
  CHECK(std::is_sorted(ranks.begin(), ranks.end()));
  CHECK_EQ(gaspi_barrier(all, kLong), GASPI_ERR_INV_GROUP);  // not committed
  const bool member = job().rank % 2 == 0;
  if (member) {
    gaspi_return_t result;
    do {
      result = gaspi_group_commit(even, 1);
    } while (result == GASPI_TIMEOUT);
    CHECK_EQ(result, GASPI_SUCCESS);
  } else {
    CHECK_EQ(gaspi_group_commit(even, kLong), GASPI_ERR_INV_GROUP);
  }
  CHECK_OK(gaspi_group_commit(all, kLong));
  int one = 1, some = 0, every = 0;
  for (int i = 0; i < 10; ++i) {
    if (member)
      CHECK_OK(gaspi_allreduce(&one, &some, 1, GASPI_OP_SUM, GASPI_TYPE_INT, even, kLong));
    CHECK_OK(gaspi_allreduce(&one, &every, 1, GASPI_OP_SUM, GASPI_TYPE_INT, all, kLong));
  }
  if (member) CHECK_EQ(some, (job().size + 1) / 2);
  CHECK_EQ(every, job().size);
  CHECK_OK(gaspi_barrier(all, kLong));
  CHECK_OK(gaspi_group_num(&now));
  CHECK_EQ(now, before + 2);
  CHECK_OK(gaspi_group_delete(even));
  CHECK_OK(gaspi_group_delete(all));
  CHECK_EQ(gaspi_group_delete(all), GASPI_ERR_INV_GROUP);
  CHECK_EQ(gaspi_group_delete(GASPI_GROUP_ALL), GASPI_ERR_INV_GROUP);
  CHECK_EQ(gaspi_barrier(all, kLong), GASPI_ERR_INV_GROUP);
  CHECK_OK(gaspi_group_num(&now));
  CHECK_EQ(now, before);
}

// Catches: control messages of a group that was deleted which reach the next one of the same
// members.
SPEC_CASE(collectives, the_same_group_again) {
  for (int round = 0; round < 10; ++round) {
    gaspi_group_t g = 0;
    CHECK_OK(gaspi_group_create(&g));
    for (gaspi_rank_t r = 0; r < job().size; ++r) CHECK_OK(gaspi_group_add(g, r));
    CHECK_OK(gaspi_group_commit(g, kLong));
    int own = round, sum = 0;
    CHECK_OK(gaspi_allreduce(&own, &sum, 1, GASPI_OP_SUM, GASPI_TYPE_INT, g, kLong));
    CHECK_EQ(sum, round * job().size);
    CHECK_OK(gaspi_group_delete(g));
  }
  CHECK_OK(gaspi_group_commit(GASPI_GROUP_ALL, kLong));
}

// Catches: a commit that is never answered because another group of the same members is being
// committed as well; two such groups that take each other's control messages.
SPEC_CASE(collectives, equal_groups_side_by_side) {
  constexpr int kGroups = 3;
  for (int round = 0; round < 4; ++round) {
    gaspi_group_t g[kGroups];
    for (gaspi_group_t& group : g) {
      CHECK_OK(gaspi_group_create(&group));
      for (gaspi_rank_t r = 0; r < job().size; ++r) CHECK_OK(gaspi_group_add(group, r));
    }
    bool done[kGroups] = {};
    while (!std::all_of(done, done + kGroups, [](bool d) { return d; })) {
      for (int i = 0; i < kGroups; ++i) {
        if (done[i]) continue;
        const gaspi_return_t result =
            gaspi_group_commit(g[i], i == round % kGroups ? 1 : GASPI_TEST);
        CHECK(result == GASPI_SUCCESS || result == GASPI_TIMEOUT);
        if (result == GASPI_ERROR) return;
        done[i] = result == GASPI_SUCCESS;
      }
    }
    for (int i = 0; i < kGroups; ++i) {
      int own = job().rank + i, most = -1;
      CHECK_OK(gaspi_allreduce(&own, &most, 1, GASPI_OP_MAX, GASPI_TYPE_INT, g[i], kLong));
      CHECK_EQ(most, static_cast<int>(job().size) - 1 + i);
      CHECK_OK(gaspi_group_delete(g[i]));
    }
  }
}

// Catches: a group that was deleted while its commit waited, and whose proposal stays: the next
// group of the same members is taken for it, and somebody is never answered. By a member that
// gathers the proposals and by members that send them; once, and again before anybody else has
// come.
SPEC_CASE(collectives, deleted_while_it_is_committed, 2) {
  const auto make = [] {
    gaspi_group_t g = 0;
    CHECK_OK(gaspi_group_create(&g));
    for (gaspi_rank_t r = 0; r < job().size; ++r) CHECK_OK(gaspi_group_add(g, r));
    return g;
  };
  for (gaspi_rank_t hasty = 0; hasty < job().size; ++hasty) {
    for (gaspi_rank_t times = 0; times < 1 + hasty % 2 && hasty == job().rank; ++times) {
      const gaspi_group_t given_up = make();
      CHECK_EQ(gaspi_group_commit(given_up, 10), GASPI_TIMEOUT);
      CHECK_OK(gaspi_group_delete(given_up));
    }
    CHECK_OK(gaspi_barrier(GASPI_GROUP_ALL, kLong));
    const gaspi_group_t g = make();
    CHECK_OK(gaspi_group_commit(g, 10000));
    int own = hasty + job().rank, most = -1;
    CHECK_OK(gaspi_allreduce(&own, &most, 1, GASPI_OP_MAX, GASPI_TYPE_INT, g, 10000));
    CHECK_EQ(most, hasty + static_cast<int>(job().size) - 1);
    CHECK_OK(gaspi_group_delete(g));
  }
}

// Catches: segments of a group that others see, or that its members do not.
SPEC_CASE(collectives, segment_of_a_group, 3) {
  if (job().rank == 0) return;
  gaspi_group_t g = 0;
  CHECK_OK(gaspi_group_create(&g));
  for (gaspi_rank_t r = 1; r < job().size; ++r) CHECK_OK(gaspi_group_add(g, r));
  CHECK_OK(gaspi_group_commit(g, kLong));
  CHECK_OK(gaspi_segment_create(30, 4096, g, kLong, GASPI_ALLOC_DEFAULT));
  gaspi_size_t size = 0;
  for (gaspi_rank_t r = 1; r < job().size; ++r) CHECK_OK(gaspi_segment_size(30, r, &size));
  CHECK_EQ(gaspi_segment_size(30, 0, &size), GASPI_ERR_INV_SEG);
  CHECK_OK(gaspi_barrier(g, kLong));
  CHECK_OK(gaspi_segment_delete(30));
  CHECK_OK(gaspi_group_delete(g));
}
