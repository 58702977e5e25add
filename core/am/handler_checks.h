// Delivery under `checks: full`: takes the place of deliver() in every endpoint.
#pragma once

#include <causeway/conduit.h>
#include <gasnetex.h>

#include "base/context.h"

namespace causeway {

// deliver(), and then: the handler has given back every handler-safe lock that it took.
void deliver_checked(void* core_ep, cwy_peer from, uint64_t word, uint32_t kind,
                     const int32_t* args, uint32_t nargs, void* payload, size_t length);

// Ends the job unless `token` is that of a handler that runs on this thread now.
void check_token(const char* call, gex_Token_t token);
inline void require_live_token(const char* call, gex_Token_t token) {
  if (__builtin_expect(context().checks(), 0)) check_token(call, token);
}

// Ends the job unless the index can be a client handler's.
void check_handler_index(const char* call, gex_AM_Index_t handler);

}  // namespace causeway
