// Puts, gets and atomics on their way, and how all operations end.
#include "../common/cpu_atomics.h"
#include "calls.h"

namespace causeway::eth {
namespace {

// A unit's head, with room for a payload that is copied; NULL: no memory.
char* stage_head(Link& link, const Unit& unit, uint64_t address, size_t payload) {
  const Target target{address, 0};
  char* const place = stage(link, head_of(unit) + aligned(payload));
  if (place == nullptr) return nullptr;
  std::memcpy(place, &unit, sizeof unit);
  std::memcpy(place + sizeof unit, &target, sizeof target);
  return place + head_of(unit);
}

}  // namespace

bool fetches(uint32_t operation) {
  using namespace cpu_atomics;
  return operation >= fetching && operation != op_set && operation != op_cas;
}

void complete(cwyc_ep* ep, Ticket* ticket, cwy_status status) {
  if (ticket->whole != nullptr && status != CWY_OK) ticket->whole->refused = true;
  if (ticket->refused) status = CWY_ERR_INVALID;
  settle(ticket, status);
  tell(ep, ticket, status);
}

void left_here(cwyc_ep* ep, Ticket* ticket) {
  if (ticket->work == Work::send || ticket->work == Work::last_send)
    complete(ep, ticket, CWY_OK);
  else
    report_op(ticket, CWYC_DONE_LOCAL, CWY_OK);
}

cwy_status post_piece(Link& link, Ticket* ticket, UnitKind kind, void* local, size_t length,
                      uint64_t raddr, uint32_t key) {
  const bool put = kind != UnitKind::get;
  const bool copied = put && length <= copied_payload;
  const Unit unit{static_cast<uint32_t>(length), kind, 0, 0, 0, key, 0};
  char* const payload = stage_head(link, unit, raddr, copied ? length : 0);
  if (payload == nullptr) return CWY_RETRY;
  if (copied) {
    std::memcpy(payload, local, length);
    std::memset(payload + length, 0, padding_of(length));
  } else if (put) {
    attach_payload(link, ticket, local, length);
  } else {
    ticket->to = local;
    ticket->length = static_cast<uint32_t>(length);
  }
  return CWY_OK;
}

void prepare_ticket(Ticket* ticket) {
  ticket->whole = nullptr;
  ticket->unsent = 0;
  ticket->refused = false;
}

// A copied source is free on return.
bool Network::writes_at_once(const cwyc_ep*, size_t length, bool) {
  return length <= copied_payload;
}

// Posts what `ticket` stands for; it goes back where that cannot be. An operation beside which
// nothing is under way leaves at once: nobody is about to wait for more.
static cwy_status post(Link& link, Ticket* ticket, UnitKind kind, void* local, size_t length,
                       uint64_t raddr, uint32_t key) {
  prepare_ticket(ticket);
  const cwy_status status = post_piece(link, ticket, kind, local, length, raddr, key);
  if (status != CWY_OK) {
    give_back_ticket(link.ep, ticket);
    return status;
  }
  const bool alone = link.pending == nullptr;
  attach_pending(link, ticket);
  (kind == UnitKind::get ? link.answers : link.acks).push(ticket);
  const bool few = length > copied_payload && link.in_flight <= few_under_way;
  push(link, alone || few || length >= batch_bytes);
  return CWY_OK;
}

cwy_status Network::write(Link& link, Ticket* ticket, const Local& local, size_t length,
                          uint64_t raddr, const cwyc_rkey& rkey, bool) {
  return post(link, ticket, UnitKind::put, local.data, length, raddr, rkey.key);
}

cwy_status Network::read(Link& link, Ticket* ticket, const Local& local, size_t length,
                         uint64_t raddr, const cwyc_rkey& rkey) {
  return post(link, ticket, UnitKind::get, local.data, length, raddr, rkey.key);
}

cwy_status Network::post_atomic(Link& link, Ticket* ticket, uint32_t operation, uint32_t type,
                                const cwyc_atomic& a, const cwyc_rkey& rkey) {
  Unit unit{};
  unit.kind = UnitKind::atomic;
  unit.type = static_cast<uint8_t>(type);
  unit.operation = static_cast<uint8_t>(operation);
  unit.key = rkey.key;
  const Operands operands{a.operand1, a.operand2};
  char* const behind = stage_head(link, unit, a.raddr, 0);
  if (behind == nullptr) {
    give_back_ticket(link.ep, ticket);
    return CWY_RETRY;
  }
  std::memcpy(behind - sizeof operands, &operands, sizeof operands);
  prepare_ticket(ticket);
  ticket->to = &ticket->result;
  ticket->length = static_cast<uint32_t>(cpu_atomics::width(a));
  const bool alone = link.pending == nullptr;
  attach_pending(link, ticket);
  (fetches(operation) ? link.answers : link.acks).push(ticket);
  push(link, alone);
  return CWY_OK;
}

// A `write` whose source is the caller's again on return.
static cwy_status stage_write(Link& link, const char* from, size_t length, uint64_t raddr,
                              uint32_t key) {
  constexpr size_t most = 32 << 10;  // less than every chunk
  const Unit unit{static_cast<uint32_t>(length), UnitKind::write, 0, 0, 0, key, 0};
  if (stage_head(link, unit, raddr, 0) == nullptr) return CWY_RETRY;
  while (length != 0) {
    const size_t part = std::min(length, most);
    char* const place = stage(link, aligned(part));
    if (place == nullptr) return break_off(link), CWY_OK;  // half a unit
    std::memcpy(place, from, part);
    std::memset(place + part, 0, padding_of(part));
    from += part;
    length -= part;
  }
  return CWY_OK;
}

// The stream keeps the frame behind the payload.
cwy_status Network::write_and_send(Link& link, fabric::Frame& f, const void* payload,
                                   const cwyc_mem*, size_t length, const cwyc_rkey& rkey, bool copy,
                                   cwyc_op* op) {
  cwyc_ep* const ep = link.ep;
  Ticket* const ticket = ep->in_flight < ep->in_flight_max ? take_ticket(ep) : nullptr;
  if (ticket == nullptr) return CWY_RETRY;
  prepare_ticket(ticket);
  ticket->work = Work::send;
  ticket->op = op;
  ticket->report = CWYC_DONE_LOCAL;
  const cwy_status status =
      copy ? stage_write(link, static_cast<const char*>(payload), length, f.raddr, rkey.key)
           : post_piece(link, ticket, UnitKind::write, const_cast<void*>(payload), length, f.raddr,
                        rkey.key);
  const bool waits = status == CWY_OK && ticket->unsent != 0;
  if (waits)
    attach_pending(link, ticket);
  else
    give_back_ticket(ep, ticket);
  if (status != CWY_OK) return status;
  ep->counters.puts.add(1);
  ep->counters.put_bytes.add(length);
  if (fabric::send_at_once(link, f, nullptr, 0) != CWY_OK) break_off(link);
  return waits ? CWY_INPROGRESS : CWY_OK;
}

}  // namespace causeway::eth
