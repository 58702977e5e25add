#include "vis/peer_completion.h"

#include <cstring>

#include "am/deliver.h"
#include "am/internal.h"
#include "connection/word.h"
#include "progress/waiter.h"

namespace causeway {

thread_local constinit PeerCompletion tls_peer_completion{};

cwy_status try_notify(Peer& peer, uint32_t handler, const void* payload, size_t length) {
  const auto index = static_cast<int32_t>(handler);
  return try_send_internal(peer, Internal::vis_notify, &index, 1, length != 0 ? payload : nullptr,
                           length, false);
}

void notify(Peer& peer, const PeerCompletion& completion) {
  WaiterFor waiter(wait_for("a message to a handler of the target's", peer));
  while (try_notify(peer, completion.handler, completion.source, completion.length) == CWY_RETRY)
    waiter.step();
}

void run_peer_completion(Peer& from, uint32_t handler, void* payload, size_t length) {
  alignas(std::max_align_t) char aligned[kMaxPeerCompletion];  // it lies within a message
  if (length != 0) std::memcpy(aligned, payload, length);
  run_message(from, client_word(static_cast<uint8_t>(handler), 0) | kWordReply, CWYC_AM_MEDIUM,
              nullptr, 0, aligned, length);
}

}  // namespace causeway
