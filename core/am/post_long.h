// Long active messages: posted by the conduit, or over messages where it does not reach the memory.
#pragma once

#include <causeway/conduit.h>

#include <cstddef>
#include <cstdint>

namespace causeway {

// Long active messages over whatever reaches the destination. `conn` is the peer's connection for
// messages, and no stub.
cwy_status post_long(cwyc_conn* conn, uint64_t word, const int32_t* args, unsigned nargs,
                     const void* src, size_t length, void* dest, uint32_t flags, cwyc_op* op);

}  // namespace causeway
