// The messages of gasnet_memset*. The signatures are those of am/internal.h.
#pragma once

#include <cstddef>
#include <cstdint>

namespace causeway {

struct Peer;

void on_memset_ask(Peer& from, const int32_t* args, unsigned nargs, void* payload, size_t length);
void on_memset_done(Peer& from, const int32_t* args, unsigned nargs, void* payload, size_t length);

}  // namespace causeway
