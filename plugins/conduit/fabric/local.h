// Local buffers of operations: used as they are, registered, or copied.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "leases.h"
#include "pools.h"

namespace causeway::fabric {

template <class Ep, class L>
void let_go(Ep* ep, const L& local) {
  if (local.bounce != nullptr) give_back_bounce(ep, local.bounce);
  if (local.lease != nullptr) ep->domain->leases->give_back(local.lease);
}

// Registers the buffer that `local` names, or a copy of it. False: neither; `error` is the
// network's.
template <class Ep, class L>
bool lease_buffer(Ep* ep, size_t length, bool write, L& local, int& error) {
  local.lease = ep->domain->leases->take(local.data, length, write, error);
  if (local.lease == nullptr) return false;
  if (local.lease->copy != nullptr) local.data = local.lease->copy.get();
  local.key = Ep::Network::key_of(local.lease->registration);
  return true;
}
template <class Ep, class L>
bool lease_buffer(Ep* ep, size_t length, bool write, L& local) {
  int unused = 0;
  return lease_buffer(ep, length, write, local, unused);
}

// A ticket with what `local` holds, which is let go where there is none; NULL: no memory.
template <class Ep, class L>
inline auto* ticket_for(Ep* ep, const L& local, Work work, uint8_t report, cwyc_op* op) {
  auto* const ticket = take_ticket(ep);
  if (__builtin_expect(ticket == nullptr, 0)) {
    let_go(ep, local);
    return ticket;
  }
  ticket->op = op;
  ticket->bounce = local.bounce;
  ticket->lease = local.lease;
  ticket->work = work;
  ticket->report = report;
  return ticket;
}

// Whether a bounce buffer holds so much, with the frame of a long behind it.
template <class Ep>
bool fits_bounce(const Ep* ep, size_t length) {
  return aligned(length) + frame_overhead <= ep->bounce_bytes;
}

// Registers or replaces the buffer `out.data` where the network would not take it as it is;
// `write`: for a result. OK, RETRY or NOMEM.
template <class Ep, class Mem, class L>
inline cwy_status prepare(Ep* ep, const Mem* lmem, size_t length, bool copy, bool write, L& out) {
  using N = typename Ep::Network;
  if (lmem != nullptr) out.key = N::key_of(*lmem);
  const bool unregistered = lmem == nullptr && N::wants_keys(ep);
  if (!copy && !unregistered) return CWY_OK;
  const bool small = fits_bounce(ep, length);
  const bool copied = (copy || length <= ep->domain->options.copy_below) && small;
  if (!copied && !unregistered) return CWY_OK;
  if (!copied) {
    int error = 0;
    if (lease_buffer(ep, length, write, out, error)) return CWY_OK;
    if (!small) {
      // No registration and nothing left to copy through: said once, since the caller cannot.
      if (!std::exchange(ep->domain->told_memory, true)) N::tell_unregistered(ep, length, error);
      return CWY_ERR_NOMEM;
    }
  }
  out.bounce = take_bounce(ep);
  if (out.bounce == nullptr) return CWY_RETRY;
  out.data = out.bounce->data;
  out.key = out.bounce->key;
  ep->counters.copied.add(1);
  return CWY_OK;
}

}  // namespace causeway::fabric
