// Striping: one put or get cut into pieces, which go through several connections at once, or are as
// long as the conduit takes them.
#pragma once

#include <causeway/conduit.h>

#include <cstdint>

#include "rma/split_ops.h"

namespace causeway {

struct Connection;
struct SplitPart;

// As an entry of cwyc_ops would answer. Remote completion is reported when all pieces are complete,
// in whatever order that happens.
cwy_status post_striped(SplitPart& part, bool put, void* local, uint64_t raddr, size_t length,
                        uint32_t flags, cwyc_op* op, const Rights& rights = {});

// The same over one connection, in pieces that its conduit takes: where it takes any, and has not
// turned out not to reach the memory.
bool may_cut(const Connection& via, const Rights& rights = {});
cwy_status post_cut(Connection& via, bool put, void* local, uint64_t raddr, size_t length,
                    uint32_t flags, cwyc_op* op, const Rights& rights = {});

// Posts what met back-pressure after its first piece. Returns how many pieces went out. From polls.
uint32_t push_stripes();

}  // namespace causeway
