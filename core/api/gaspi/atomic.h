// Global atomics (GASPI 17.1, chapter 10) by the mechanism that an atomic domain of GASNet-EX over
// all ranks has, so that both agree on one word.
#pragma once

#include <GASPI.h>
#include <gasnet_fwd.h>

#include "api/gaspi/deadline.h"
#include "api/gaspi/segment.h"
#include "api/gaspi/world.h"

namespace causeway::gaspi {

struct AtomicRequest {
  uint32_t rank;
  FarSegment* segment;
  uint64_t offset;
  gex_OP_t opcode;  // on GEX_DT_U64
  uint64_t operand1, operand2;
};

gaspi_return_t perform_atomic(World& world, const AtomicRequest& request, uint64_t* old,
                              Deadline& deadline);

// The conduit's endpoint that serves atomics with the peer, which is connected.
ConduitEp* atomic_endpoint(const World& world, Peer& peer);

}  // namespace causeway::gaspi
