#include "am/emulated_prepare.h"

#include <algorithm>

#include "am/internal.h"
#include "am/send.h"
#include "am/send_buffer.h"

namespace causeway {
namespace {

SendBuffer* buffer_of(const cwyc_am_slot& slot) {
  return reinterpret_cast<SendBuffer*>(slot.priv[0]);
}
uint32_t lane_of(const cwyc_am_slot& slot) {
  return static_cast<uint32_t>(slot.priv[1]);
}

}  // namespace

cwy_status emulated_prepare(cwyc_conn* conn, size_t least, size_t most, uint32_t nargs,
                            uint32_t flags, cwyc_am_slot* slot) {
  const size_t limit = Connection::of(conn).attr->am_medium_max;
  if (nargs > CWYC_AM_MAX_ARGS || least > most || least > limit) return CWY_ERR_INVALID;
  const size_t room = std::min(most, limit);
  SendBuffer* buffer = take_send_buffer(room, (flags & CWYC_LANE_REPLY) != 0);
  if (buffer == nullptr) return CWY_RETRY;
  slot->buffer = buffer->data();
  slot->length = room;
  slot->priv[0] = reinterpret_cast<uint64_t>(buffer);
  slot->priv[1] = flags & CWYC_LANE_REPLY;
  return CWY_OK;
}

cwy_status try_emulated_commit(cwyc_conn* conn, cwyc_am_slot* slot, uint64_t word,
                               const int32_t* args, uint32_t nargs, size_t length) {
  SendBuffer* const buffer = buffer_of(*slot);
  const cwy_status status = conn->ops->am_medium(conn, word, args, nargs, buffer->data(), nullptr,
                                                 length, lane_of(*slot), &buffer->op);
  if (status == CWY_RETRY || status == CWY_INPROGRESS) return status;
  give_send_buffer(buffer);
  // A peer that died meanwhile swallows the message; its death is reported elsewhere.
  if (is_error(status) && status != CWY_ERR_PEER_FAILED)
    send_failed(*Connection::of(conn).peer, status);
  return CWY_OK;
}

void emulated_commit(cwyc_conn* conn, cwyc_am_slot* slot, uint64_t word, const int32_t* args,
                     uint32_t nargs, size_t length) {
  SendingWait wait(*Connection::of(conn).peer->ep);
  while (try_emulated_commit(conn, slot, word, args, nargs, length) == CWY_RETRY) wait.step();
}

bool prepares_by_emulation(cwyc_conn* conn) {
  return Connection::of(conn).cep->inner[conn->table].am_commit == &emulated_commit;
}

void emulated_cancel(cwyc_conn*, cwyc_am_slot* slot) {
  give_send_buffer(buffer_of(*slot));
}

}  // namespace causeway
