// All of the engine that a network's table needs: what the files of a network include.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "connections.h"
#include "memory.h"
#include "receive.h"
#include "transfers.h"

namespace causeway::fabric {

// The calls of a conduit's table that are the same for every network; the network derives its own
// from this and adds what opens and describes devices, domains and endpoints.
template <class N>
struct Engine : Transfers<N>, Connections<N>, Memory<N> {};

}  // namespace causeway::fabric
