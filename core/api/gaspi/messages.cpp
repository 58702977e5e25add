#include "api/gaspi/messages.h"

#include <cstring>

#include "am/internal.h"
#include "api/gaspi/acknowledgements.h"
#include "api/gaspi/control.h"
#include "api/gaspi/queue.h"
#include "api/gaspi/world.h"
#include "base/log.h"
#include "object/segment.h"

namespace causeway::gaspi {
namespace {

// A request names memory of a segment that is gone, or never was: nothing is stored, and the
// sender is told.
bool may_store(const Peer& from, uint64_t addr, size_t length) {
  if (length == 0 || in_any_segment(addr, length)) return true;
  log_warn("rank {} wrote to [{:#x}, {:#x}), which is in no segment of this rank", from.rank, addr,
           addr + length);
  return false;
}

// Requests of this rank's that are complete: two arguments each, from `first` on.
void take_acknowledgements(const int32_t* args, unsigned first, unsigned nargs) {
  for (unsigned i = first; i + 1 < nargs; i += 2)
    request_done(join_halves(args[i], args[i + 1]), true);
}

void answer(World& w, Peer& from, const int32_t* cookie, bool well) {
  if (__builtin_expect(well, 1))
    return w.acknowledgements->owe(w, from, join_halves(cookie[0], cookie[1]));
  const int32_t args[] = {static_cast<int32_t>(Message::refused), cookie[0], cookie[1]};
  reply_internal(from, Internal::interface, args, 3, nullptr, 0);
}

// args: 1-2 slot, 3 value, 4-5 cookie, then acknowledgements
void on_note(World& w, Peer& from, const int32_t* args, unsigned nargs) {
  take_acknowledgements(args, kNoteArgs, nargs);
  const uint64_t slot = join_halves(args[1], args[2]);
  const bool well = may_store(from, slot, sizeof(uint64_t));
  if (well) store_note(slot, static_cast<uint32_t>(args[3]));
  answer(w, from, args + 4, well);
}

// args: 1-2 slot, 3 value, 4-5 cookie, 6-7 address, 8-9 data that is no payload, then
// acknowledgements
void on_write_note(World& w, Peer& from, const int32_t* args, unsigned nargs, const void* payload,
                   size_t length) {
  const size_t in_args = static_cast<uint32_t>(args[0]) >> 8 & 0xff;
  if (in_args > kInArgs || (in_args != 0 && nargs < kWriteNoteArgs + 2)) return;
  if (in_args != 0) {
    payload = args + kWriteNoteArgs;
    length = in_args;
  }
  take_acknowledgements(args, kWriteNoteArgs + (in_args != 0 ? 2 : 0), nargs);
  const uint64_t slot = join_halves(args[1], args[2]), addr = join_halves(args[6], args[7]);
  const bool well = may_store(from, addr, length) && may_store(from, slot, sizeof(uint64_t));
  if (well) {
    const AnnotatePeerAccess access;
    auto* const to = reinterpret_cast<void*>(addr);
    if (length != 0 && payload != to) std::memcpy(to, payload, length);  // a long's is there
    store_note(slot, static_cast<uint32_t>(args[3]));
  }
  answer(w, from, args + 4, well);
}

}  // namespace

void on_message(Peer& from, const int32_t* args, unsigned nargs, void* payload, size_t length) {
  World* const w = g_receiver.load(std::memory_order_acquire);
  if (w == nullptr || nargs == 0) return;
  switch (static_cast<Message>(args[0] & 0xff)) {
    case Message::piece:
      return on_piece(*w, from, args, nargs, payload, length);
    case Message::note:
      return on_note(*w, from, args, nargs);
    case Message::write_note:
      return on_write_note(*w, from, args, nargs, payload, length);
    case Message::done:
      return take_acknowledgements(args, 1, nargs);
    case Message::refused:
      return request_done(join_halves(args[1], args[2]), false);
    case Message::wake:
      return;
  }
}

}  // namespace causeway::gaspi
