// Operations of split connections (connection/split.h).
#pragma once

#include <causeway/conduit.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace causeway {

struct Connection;

// A transfer's own registration and right, in place of its connection's, and whether the conduit
// has turned out not to take them.
struct Rights {
  cwyc_mem* lmem = nullptr;
  cwyc_rkey* rkey = nullptr;
  std::atomic<bool>* over_am = nullptr;  // NULL: the connection's are meant
};

// The table of split connections. Concurrency MULTI: each part takes the lock that it needs.
const cwyc_ops& split_table();

// One attempt at a put or get by one connection: by the conduit, or over messages where it does
// not reach the memory, or in parts where it takes less at once. Addresses as in cwyc_ops.
cwy_status post_by_member(Connection& c, bool put, void* local, uint64_t raddr, size_t length,
                          uint32_t flags, cwyc_op* op, const Rights& own = {});

}  // namespace causeway
