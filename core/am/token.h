// The token of a running handler: lives on the stack of the delivery that runs it.
#pragma once

#include <gasnetex.h>

#include "connection/peer.h"

struct cwy_token {
  causeway::Endpoint* ep;
  causeway::Peer* from;
  const gex_AM_Entry_t* entry;
  bool is_request;
  bool is_long;
  bool replied;
};
