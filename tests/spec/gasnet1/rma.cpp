// One-sided operations and their synchronisation.
#include <algorithm>
#include <cstring>
#include <thread>
#include <vector>

#include "gasnet1.h"

using spec::job;

namespace {

constexpr size_t kArea = size_t{1} << 20;  // what others write: [kArea, 8 MiB)
constexpr size_t kSizes[] = {0, 1, 2, 3, 4, 7, 8, 9, 16, 63, 64, 65, 255, 1024, 4096, 70000};

gasnet_node_t to() {
  return job().peer();
}
std::byte* there(size_t offset = 0) {
  return spec::segment_of(to(), kArea + offset);
}
std::byte* here(size_t offset = 0) {
  return spec::my_segment(kArea + offset);
}
void meet() {
  gasnet_barrier(0, GASNET_BARRIERFLAG_UNNAMED);
}

// The bytes written, and none beside them.
void check_landed(const std::byte* at, size_t bytes, uint64_t seed) {
  CHECK_PATTERN(at, bytes, seed);
  CHECK_EQ(std::to_integer<int>(at[bytes]), 0xEE);
}
void prepare(size_t bytes) {
  std::memset(here(), 0xEE, bytes + 64);
}

enum class How { blocking, nb, nbi };

void put(How how, bool bulk, std::byte* dest, std::vector<char>& source, size_t bytes) {
  switch (how) {
    case How::blocking:
      bulk ? gasnet_put_bulk(to(), dest, source.data(), bytes)
           : gasnet_put(to(), dest, source.data(), bytes);
      break;
    case How::nb: {
      gasnet_handle_t handle = bulk ? gasnet_put_nb_bulk(to(), dest, source.data(), bytes)
                                    : gasnet_put_nb(to(), dest, source.data(), bytes);
      // The aligned form gives the source back at once, the bulk form when it is complete.
      if (!bulk) std::fill(source.begin(), source.end(), 'x');
      if (bytes % 2)
        gasnet_wait_syncnb(handle);
      else
        while (gasnet_try_syncnb(handle) == GASNET_ERR_NOT_READY) continue;
      break;
    }
    case How::nbi:
      bulk ? gasnet_put_nbi_bulk(to(), dest, source.data(), bytes)
           : gasnet_put_nbi(to(), dest, source.data(), bytes);
      if (!bulk) std::fill(source.begin(), source.end(), 'x');
      if (bytes % 2)
        gasnet_wait_syncnbi_puts();
      else
        while (gasnet_try_syncnbi_puts() == GASNET_ERR_NOT_READY) continue;
      break;
  }
}

void get(How how, bool bulk, void* dest, std::byte* src, size_t bytes) {
  switch (how) {
    case How::blocking:
      bulk ? gasnet_get_bulk(dest, to(), src, bytes) : gasnet_get(dest, to(), src, bytes);
      break;
    case How::nb: {
      gasnet_handle_t handle =
          bulk ? gasnet_get_nb_bulk(dest, to(), src, bytes) : gasnet_get_nb(dest, to(), src, bytes);
      if (bytes % 2)
        gasnet_wait_syncnb(handle);
      else
        while (gasnet_try_syncnb(handle) == GASNET_ERR_NOT_READY) continue;
      break;
    }
    case How::nbi:
      bulk ? gasnet_get_nbi_bulk(dest, to(), src, bytes) : gasnet_get_nbi(dest, to(), src, bytes);
      if (bytes % 2)
        gasnet_wait_syncnbi_gets();
      else
        while (gasnet_try_syncnbi_gets() == GASNET_ERR_NOT_READY) continue;
      break;
  }
}

void put_all_sizes(How how, bool bulk) {
  for (const size_t bytes : kSizes) {
    const size_t shift = bulk ? 3 : 0;  // bulk transfers need no alignment
    prepare(bytes + shift);
    meet();
    std::vector<char> source(bytes + 1);
    spec::fill(source.data(), bytes, bytes + job().rank);
    put(how, bulk, there(shift), source, bytes);
    meet();
    check_landed(here(shift), bytes, bytes + job().behind());
    meet();
  }
}

void get_all_sizes(How how, bool bulk) {
  for (const size_t bytes : kSizes) {
    const size_t shift = bulk ? 5 : 0;
    spec::fill(here(shift), bytes, bytes * 3 + job().rank);
    meet();
    std::vector<std::byte> dest(bytes + 1, std::byte{0xEE});
    get(how, bulk, dest.data(), there(shift), bytes);
    check_landed(dest.data(), bytes, bytes * 3 + to());
    meet();
  }
}

template <typename Set>
void memset_all_sizes(Set&& set) {
  for (const size_t bytes : kSizes) {
    prepare(bytes + 3);
    meet();
    set(there(3), static_cast<int>(bytes % 251) + 0x100, bytes);  // only the low byte counts
    meet();
    const auto expected = static_cast<std::byte>(bytes % 251);
    CHECK(std::all_of(here(3), here(3) + bytes, [&](std::byte b) { return b == expected; }));
    CHECK_EQ(std::to_integer<int>(here(3)[bytes]), 0xEE);
    CHECK_EQ(std::to_integer<int>(here(3)[-1]), 0xEE);
    meet();
  }
}

constexpr gasnet_register_value_t kValue = 0x8182838485868788u;
gasnet_register_value_t low_bytes(gasnet_register_value_t value, size_t bytes) {
  return bytes == 8 ? value : value & ((gasnet_register_value_t{1} << (8 * bytes)) - 1);
}

template <typename Put>
void put_values(Put&& put_one) {
  for (size_t bytes = 1; bytes <= 8; ++bytes) {
    prepare(16);
    meet();
    put_one(there(), kValue, bytes);
    meet();
    gasnet_register_value_t expected = 0;
    std::memset(&expected, 0xEE, sizeof expected);
    std::memcpy(&expected, &kValue, bytes);  // little-endian machines only
    gasnet_register_value_t seen;
    std::memcpy(&seen, here(), sizeof seen);
    CHECK_EQ(seen, expected);
    meet();
  }
}

}  // namespace

SPEC_CASE(rma, put) {
  put_all_sizes(How::blocking, false);
}
SPEC_CASE(rma, put_bulk) {
  put_all_sizes(How::blocking, true);
}
SPEC_CASE(rma, put_nb) {
  put_all_sizes(How::nb, false);
}
SPEC_CASE(rma, put_nb_bulk) {
  put_all_sizes(How::nb, true);
}
SPEC_CASE(rma, put_nbi) {
  put_all_sizes(How::nbi, false);
}
SPEC_CASE(rma, put_nbi_bulk) {
  put_all_sizes(How::nbi, true);
}
SPEC_CASE(rma, get) {
  get_all_sizes(How::blocking, false);
}
SPEC_CASE(rma, get_bulk) {
  get_all_sizes(How::blocking, true);
}
SPEC_CASE(rma, get_nb) {
  get_all_sizes(How::nb, false);
}
SPEC_CASE(rma, get_nb_bulk) {
  get_all_sizes(How::nb, true);
}
SPEC_CASE(rma, get_nbi) {
  get_all_sizes(How::nbi, false);
}
SPEC_CASE(rma, get_nbi_bulk) {
  get_all_sizes(How::nbi, true);
}

SPEC_CASE(rma, memset) {
  memset_all_sizes([](void* dest, int val, size_t n) { gasnet_memset(to(), dest, val, n); });
}
SPEC_CASE(rma, memset_nb) {
  memset_all_sizes([](void* dest, int val, size_t n) {
    gasnet_wait_syncnb(gasnet_memset_nb(to(), dest, val, n));
  });
}
SPEC_CASE(rma, memset_nbi) {
  memset_all_sizes([](void* dest, int val, size_t n) {
    gasnet_memset_nbi(to(), dest, val, n);
    gasnet_wait_syncnbi_puts();
  });
}
// Several memsets at once, inside a region too, each where it belongs.
SPEC_CASE(rma, memset_many) {
  constexpr unsigned kCount = 40;
  prepare(kCount * 128);
  meet();
  gasnet_handle_t handles[kCount];
  gasnet_begin_nbi_accessregion();
  for (unsigned i = 0; i < kCount; ++i) {
    if (i % 2) gasnet_memset_nbi(to(), there(i * 128), static_cast<int>(i), 100);
    handles[i] = i % 2 ? GASNET_INVALID_HANDLE
                       : gasnet_memset_nb(to(), there(i * 128), static_cast<int>(i), 100);
  }
  gasnet_wait_syncnb(gasnet_end_nbi_accessregion());
  gasnet_wait_syncnb_all(handles, kCount);
  meet();
  for (unsigned i = 0; i < kCount; ++i) {
    CHECK_EQ(std::to_integer<unsigned>(here(i * 128)[0]), i);
    CHECK_EQ(std::to_integer<unsigned>(here(i * 128)[99]), i);
    CHECK_EQ(std::to_integer<unsigned>(here(i * 128)[100]), 0xEEu);
  }
  meet();
}

SPEC_CASE(rma, put_val) {
  put_values(
      [](void* dest, gasnet_register_value_t v, size_t n) { gasnet_put_val(to(), dest, v, n); });
}
SPEC_CASE(rma, put_nb_val) {
  put_values([](void* dest, gasnet_register_value_t v, size_t n) {
    gasnet_wait_syncnb(gasnet_put_nb_val(to(), dest, v, n));
  });
}
SPEC_CASE(rma, put_nbi_val) {
  put_values([](void* dest, gasnet_register_value_t v, size_t n) {
    gasnet_put_nbi_val(to(), dest, v, n);
    gasnet_wait_syncnbi_all();
  });
}

// No sign extension, whatever the size.
SPEC_CASE(rma, get_val) {
  std::memcpy(here(), &kValue, sizeof kValue);
  meet();
  for (size_t bytes = 1; bytes <= 8; ++bytes)
    CHECK_EQ(gasnet_get_val(to(), there(), bytes), low_bytes(kValue, bytes));
  meet();
}

// Many outstanding, waited for in another order than they were started.
SPEC_CASE(rma, get_nb_val) {
  constexpr unsigned kCount = 200;
  for (unsigned i = 0; i < kCount; ++i) {
    const uint64_t word = kValue + i + job().rank;
    std::memcpy(here(i * 8), &word, 8);
  }
  meet();
  gasnet_valget_handle_t handles[kCount];
  for (int round = 0; round < 3; ++round) {
    for (unsigned i = 0; i < kCount; ++i)
      handles[i] = gasnet_get_nb_val(to(), there(i * 8), 1 + i % 8);
    for (unsigned i = kCount; i-- > 0;)
      CHECK_EQ(gasnet_wait_syncnb_valget(handles[i]), low_bytes(kValue + i + to(), 1 + i % 8));
  }
  meet();
}

SPEC_CASE(rma, sync_invalid_handles) {
  gasnet_handle_t none[3] = {GASNET_INVALID_HANDLE, GASNET_INVALID_HANDLE, GASNET_INVALID_HANDLE};
  gasnet_wait_syncnb(GASNET_INVALID_HANDLE);
  CHECK_EQ(gasnet_try_syncnb(GASNET_INVALID_HANDLE), GASNET_OK);
  gasnet_wait_syncnb_all(none, 3);
  gasnet_wait_syncnb_some(none, 3);
  CHECK_EQ(gasnet_try_syncnb_all(none, 3), GASNET_OK);
  CHECK_EQ(gasnet_try_syncnb_some(none, 3), GASNET_OK);
  CHECK_EQ(gasnet_try_syncnb_all(none, 0), GASNET_OK);
  CHECK_EQ(gasnet_try_syncnb_some(none, 0), GASNET_OK);
  gasnet_wait_syncnb_all(nullptr, 0);
  gasnet_wait_syncnb_some(nullptr, 0);
  gasnet_wait_syncnbi_gets();
  gasnet_wait_syncnbi_puts();
  gasnet_wait_syncnbi_all();
  CHECK_EQ(gasnet_try_syncnbi_gets(), GASNET_OK);
  CHECK_EQ(gasnet_try_syncnbi_puts(), GASNET_OK);
  CHECK_EQ(gasnet_try_syncnbi_all(), GASNET_OK);
}

// Arrays of handles: completed ones become invalid, and some means at least one.
SPEC_CASE(rma, sync_arrays) {
  constexpr unsigned kCount = 64;
  std::vector<uint64_t> source(kCount);
  for (int way = 0; way < 4; ++way) {
    prepare(kCount * 8);
    meet();
    gasnet_handle_t handles[kCount];
    for (unsigned i = 0; i < kCount; ++i) {
      source[i] = 1000 * static_cast<unsigned>(way) + i;
      handles[i] = i % 5 == 4 ? GASNET_INVALID_HANDLE
                              : gasnet_put_nb_bulk(to(), there(i * 8), &source[i], 8);
    }
    const auto left = [&] {
      return std::count_if(std::begin(handles), std::end(handles),
                           [](gasnet_handle_t h) { return h != GASNET_INVALID_HANDLE; });
    };
    switch (way) {
      case 0:
        gasnet_wait_syncnb_all(handles, kCount);
        break;
      case 1:
        while (gasnet_try_syncnb_all(handles, kCount) == GASNET_ERR_NOT_READY) continue;
        break;
      case 2:
        for (auto before = left(); before > 0; before = left()) {
          gasnet_wait_syncnb_some(handles, kCount);
          if (!CHECK(left() < before)) break;
        }
        break;
      case 3:
        for (auto before = left(); before > 0; before = left()) {
          while (gasnet_try_syncnb_some(handles, kCount) == GASNET_ERR_NOT_READY) continue;
          if (!CHECK(left() < before)) break;
        }
        break;
    }
    CHECK_EQ(left(), 0);
    meet();
    for (unsigned i = 0; i < kCount; ++i) {
      uint64_t seen;
      std::memcpy(&seen, here(i * 8), 8);
      if (i % 5 != 4) CHECK_EQ(seen, 1000 * static_cast<unsigned>(way) + i);
    }
    meet();
  }
}

// What is started inside a region belongs to its handle and not to the thread's implicit set, and
// the other way round.
SPEC_CASE(rma, access_region) {
  constexpr unsigned kCount = 32;
  std::vector<uint64_t> source(2 * kCount), fetched(kCount);
  prepare(3 * kCount * 8);
  for (unsigned i = 0; i < kCount; ++i) {
    const uint64_t word = 7 * i + job().rank;
    std::memcpy(here((2 * kCount + i) * 8), &word, 8);
  }
  meet();
  for (unsigned i = 0; i < kCount; ++i) {
    source[i] = i;
    gasnet_put_nbi_bulk(to(), there(i * 8), &source[i], 8);
  }
  gasnet_begin_nbi_accessregion();
  for (unsigned i = kCount; i < 2 * kCount; ++i) {
    source[i] = i;
    gasnet_put_nbi_bulk(to(), there(i * 8), &source[i], 8);
    gasnet_get_nbi(&fetched[i - kCount], to(), there((i + kCount) * 8), 8);
  }
  uint64_t separate = 0;
  gasnet_wait_syncnb(gasnet_get_nb(&separate, to(), there(2 * kCount * 8), 8));
  CHECK_EQ(separate, to());
  const gasnet_handle_t region = gasnet_end_nbi_accessregion();
  gasnet_wait_syncnbi_all();
  gasnet_wait_syncnb(region);
  gasnet_begin_nbi_accessregion();
  CHECK_EQ(gasnet_try_syncnb(gasnet_end_nbi_accessregion()), GASNET_OK);
  for (unsigned i = 0; i < kCount; ++i) CHECK_EQ(fetched[i], 7 * i + to());
  meet();
  for (unsigned i = 0; i < 2 * kCount; ++i) {
    uint64_t seen;
    std::memcpy(&seen, here(i * 8), 8);
    CHECK_EQ(seen, i);
  }
  meet();
}

// 2^16-1 operations may be under way before any is synchronised (3.3.1).
SPEC_CASE(rma, many_outstanding) {
  const unsigned count = spec::scaled(65535, 2000);
  std::memset(here(), 0, size_t{count} * 8);
  meet();
  std::vector<gasnet_handle_t> handles(count);
  for (unsigned i = 0; i < count; ++i) handles[i] = gasnet_put_nb_val(to(), there(i * 8), i + 1, 8);
  gasnet_wait_syncnb_all(handles.data(), count);
  meet();
  const auto* words = reinterpret_cast<const uint64_t*>(here());
  for (unsigned i = 0; i < count; ++i)
    if (!CHECK_EQ(words[i], i + 1)) break;
  meet();
}

// To oneself: all calls support loopback (1.9).
SPEC_CASE(rma, loopback) {
  const gasnet_node_t me = job().rank;
  uint64_t word = 41, back = 0;
  gasnet_put(me, here(), &word, 8);
  gasnet_get(&back, me, here(), 8);
  CHECK_EQ(back, 41u);
  gasnet_memset(me, here(), 0x11, 8);
  CHECK_EQ(gasnet_get_val(me, here(), 2), 0x1111u);
  CHECK_EQ(gasnet_wait_syncnb_valget(gasnet_get_nb_val(me, here(), 1)), 0x11u);
  gasnet_put_val(me, here(), 5, 1);
  CHECK_EQ(std::to_integer<int>(*here()), 5);
  meet();
}

#ifdef GASNET_PAR
// Implicit operations and values belong to their thread.
SPEC_CASE(rma, threads) {
  constexpr unsigned kThreads = 3, kCount = 100;
  prepare(kThreads * kCount * 8);
  meet();
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < kThreads; ++t)
    threads.emplace_back([t] {
      for (unsigned i = 0; i < kCount; ++i)
        gasnet_put_nbi_val(to(), there((t * kCount + i) * 8), t * 1000 + i, 8);
      gasnet_wait_syncnbi_puts();
      for (unsigned i = 0; i < kCount; ++i)
        CHECK_EQ(gasnet_wait_syncnb_valget(gasnet_get_nb_val(to(), there((t * kCount + i) * 8), 8)),
                 t * 1000 + i);
    });
  for (std::thread& thread : threads) thread.join();
  meet();
}
#endif
