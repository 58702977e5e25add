// The arrival of the core's own messages of vector, indexed and strided transfers. The signatures
// are those of am/internal.h.
#pragma once

#include <cstddef>
#include <cstdint>

namespace causeway {

struct Peer;

void on_vis_put(Peer& from, const int32_t* args, unsigned nargs, void* payload, size_t length);
void on_vis_put_done(Peer& from, const int32_t* args, unsigned nargs, void* payload, size_t length);
void on_vis_get(Peer& from, const int32_t* args, unsigned nargs, void* payload, size_t length);
void on_vis_got(Peer& from, const int32_t* args, unsigned nargs, void* payload, size_t length);
void on_vis_notify(Peer& from, const int32_t* args, unsigned nargs, void* payload, size_t length);

}  // namespace causeway
