// Puts and gets in the provider's hands.
#include "calls.h"

namespace causeway::ofi {

cwy_status Network::read(Link& link, Ticket* ticket, const Local& local, size_t length,
                         uint64_t raddr, const cwyc_rkey& rkey) {
  const ssize_t error = fi_read(link.endpoint, local.data, length, local.key, link.address,
                                remote_address(rkey, raddr), rkey.key, ticket);
  return posted(link, ticket, error);
}

// The provider keeps reads behind the writes before them: when the last byte of a put has been
// read back, all of it is in place.
static bool read_behind(cwyc_ep* ep, Ticket* ticket) {
  Link& link = *ticket->link;
  const ssize_t error = fi_read(link.endpoint, &ticket->result, 1, ticket->key, link.address,
                                ticket->read_behind, ticket->read_key, ticket);
  if (error == 0) return true;
  if (refused(link, error) == CWY_RETRY) return false;
  detach_pending(ticket);
  report_op(ticket, 0, CWY_ERR_PEER_FAILED);
  give_back_ticket(ep, ticket);
  return true;
}

uint32_t push_reads(cwyc_ep* ep) {
  uint32_t events = 0;
  while (!ep->reads_due.empty() && read_behind(ep, ep->reads_due.back())) {
    ep->reads_due.pop_back();
    ++events;
  }
  return events;
}

void complete(cwyc_ep* ep, Ticket* ticket, cwy_status status, const cwy_detail* detail) {
  if (ticket->work == Work::put_behind && status == CWY_OK && ticket->link != nullptr) {
    ticket->work = Work::get;
    if (read_behind(ep, ticket)) return;
    ep->reads_due.push_back(ticket);
    chores_due(ep);
    return;
  }
  settle(ticket, status);
  tell(ep, ticket, status, detail);
}

void drain_link(Link& link, uint64_t limit_ns) {
  cwyc_ep* ep = link.ep;
  for (Ticket* t = link.pending; t != nullptr; t = t->next) fi_cancel(&link.endpoint->fid, t);
  const uint64_t end = services->now() + limit_ns;
  while (link.pending != nullptr && services->now() < end)
    Network::progress(ep, 64, CWYC_PROGRESS_REPLIES);
  if (link.pending == nullptr) return;
  log(CWY_LOG_INFO,
      "provider %s keeps operations of the failed rank %u; their buffers are reported free all the "
      "same",
      ep->domain->path.provider.c_str(), link.peer.rank);
}

}  // namespace causeway::ofi
