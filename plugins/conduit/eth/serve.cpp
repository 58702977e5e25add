// Requests of peers for this process' memory, and the peers' answers to its own.
#include "../common/cpu_atomics.h"
#include "calls.h"

namespace causeway::eth {
namespace {

// The bytes that a peer names, if they are registered under the key that it has.
char* registered(const cwyc_ep* ep, const Unit& unit, uint64_t address, uint64_t length) {
  for (const cwyc_mem* mem : ep->domain->mems)
    if (mem->rkey.key == unit.key && inside(mem->rkey, address, length))
      return reinterpret_cast<char*>(address);
  return nullptr;
}

// The caller is inside of progress, so push() notes the link for the end. `from` NULL: the request
// was refused.
void answer(Link& link, const char* from, size_t length) {
  Unit unit{};
  unit.kind = UnitKind::answer;
  unit.refused = from == nullptr;
  unit.length = from != nullptr ? static_cast<uint32_t>(length) : 0;
  push(link, false);
  stage_unit(link, unit);
  if (from == nullptr) return;
  if (length > copied_payload) return attach_segment(link, from, length);
  char* const place = stage(link, aligned(length));
  if (place == nullptr) return break_off(link);
  std::memcpy(place, from, length);
  std::memset(place + length, 0, padding_of(length));
}

// A put or a plain atomic has come to its end. What is done is told when the link's outbox leaves.
void conclude(Link& link, bool refused) {
  push(link, false);
  if (!refused) {
    ++link.done;
    return;
  }
  link.ep->counters.dropped.add(1);
  Unit unit{};
  unit.kind = UnitKind::refusal;
  unit.count = link.done++;
  link.told = link.done;
  stage_unit(link, unit);
}

void start_placing(Inbox& in, const Unit& unit, char* to) {
  in.placing = true;
  in.unit = unit;
  in.to = to;
  in.left = unit.length;
  in.padding = padding_of(unit.length);
}

void serve_atomic(Link& link, const Unit& unit, const char* head, uint64_t address) {
  Operands operands;
  std::memcpy(&operands, head + sizeof(Unit) + sizeof(Target), sizeof operands);
  uint64_t result = 0;
  cwyc_atomic a{};
  a.raddr = address;
  a.operand1 = operands.first;
  a.operand2 = operands.second;
  a.result = &result;
  a.dt = 1u << (unit.type & 31);
  a.opcode = 1u << (unit.operation & 31);
  const size_t bytes = cpu_atomics::width(a);
  char* const word = registered(link.ep, unit, address, bytes);
  const bool done = word != nullptr && cpu_atomics::execute(word, a) == CWY_OK;
  if (!fetches(unit.operation)) return conclude(link, !done);
  answer(link, done ? reinterpret_cast<const char*>(&result) : nullptr, bytes);
}

// False: nothing was expected.
bool finish_oldest(Link& link, Expected& expected, cwy_status status) {
  Ticket* const ticket = expected.oldest();
  if (ticket == nullptr) return false;
  expected.pop();
  complete(link.ep, ticket, status);
  return true;
}

bool take_answer(Link& link, const Unit& unit) {
  Ticket* const ticket = link.answers.oldest();
  if (ticket == nullptr || unit.length != (unit.refused != 0 ? 0 : ticket->length)) return false;
  if (unit.refused != 0) return finish_oldest(link, link.answers, CWY_ERR_INVALID);
  start_placing(link.in, unit, static_cast<char*>(ticket->to));
  return true;
}

// All up to the `count`th are done.
bool take_acks(Link& link, uint32_t count) {
  while (link.acked != count) {
    ++link.acked;
    if (!finish_oldest(link, link.acks, CWY_OK)) return false;
  }
  return true;
}

bool take_refusal(Link& link, uint32_t count) {
  if (!take_acks(link, count)) return false;
  ++link.acked;
  return finish_oldest(link, link.acks, CWY_ERR_INVALID);
}

}  // namespace

void stage_unit(Link& link, const Unit& unit) {
  char* const place = stage(link, sizeof unit);
  if (place == nullptr) return break_off(link);
  std::memcpy(place, &unit, sizeof unit);
}

void stage_ack(Link& link) {
  Unit unit{};
  unit.kind = UnitKind::ack;
  unit.count = link.done;
  stage_unit(link, unit);
  link.told = link.done;
}

bool serve(Link& link, const Unit& unit, const char* head) {
  Target target{};
  if (head_of(unit) > sizeof unit) std::memcpy(&target, head + sizeof unit, sizeof target);
  switch (unit.kind) {
    case UnitKind::put:
    case UnitKind::write:
      start_placing(link.in, unit, registered(link.ep, unit, target.address, unit.length));
      return true;
    case UnitKind::get:
      answer(link, registered(link.ep, unit, target.address, unit.length), unit.length);
      return true;
    case UnitKind::atomic:
      serve_atomic(link, unit, head, target.address);
      return true;
    case UnitKind::answer:
      return take_answer(link, unit);
    case UnitKind::ack:
      return take_acks(link, unit.count);
    case UnitKind::refusal:
      return take_refusal(link, unit.count);
    case UnitKind::park:
      return on_park(link, unit.count);
    case UnitKind::port:
      on_port(link, unit);
      return true;
    case UnitKind::sync:
      return on_sync(link, unit);
    case UnitKind::frame:
      break;
  }
  return false;
}

void placed(Link& link) {
  const bool refused = link.in.to == nullptr;
  if (link.in.unit.kind == UnitKind::answer) {
    finish_oldest(link, link.answers, CWY_OK);
  } else if (link.in.unit.kind == UnitKind::write) {
    link.part_refused |= refused;
  } else {
    conclude(link, std::exchange(link.part_refused, false) || refused);
  }
}

}  // namespace causeway::eth
