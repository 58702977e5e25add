// Striping: one put or get cut into pieces that go through several connections at once.
#pragma once

#include <causeway/conduit.h>

#include <cstdint>

namespace causeway {

struct SplitPart;

// As an entry of cwyc_ops would answer. Remote completion is reported when all pieces are complete,
// in whatever order that happens.
cwy_status post_striped(SplitPart& part, bool put, void* local, uint64_t raddr, size_t length,
                        uint32_t flags, cwyc_op* op);

// Posts what met back-pressure after its first piece. Returns how many pieces went out. From polls.
uint32_t push_stripes();

}  // namespace causeway
