// Operations of split connections (connection/split.h).
#pragma once

#include <causeway/conduit.h>

#include <cstddef>
#include <cstdint>

namespace causeway {

struct Connection;

// The table of split connections. Concurrency MULTI: each part takes the lock that it needs.
const cwyc_ops& split_table();

// One attempt at a put or get by one connection: by the conduit, or over messages where it does
// not reach the memory. Addresses as in cwyc_ops; registrations and rights are the connection's.
cwy_status post_by_member(Connection& c, bool put, void* local, uint64_t raddr, size_t length,
                          uint32_t flags, cwyc_op* op);

}  // namespace causeway
