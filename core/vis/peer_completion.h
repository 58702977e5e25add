// Peer completion: the handler that a put runs at its target once the data is there.
// "VIS Put Peer Completion" of the GASNet-EX specification.
#pragma once

#include <causeway/conduit.h>
#include <gasnet_fwd.h>

#include <cstddef>
#include <cstdint>

namespace causeway {

struct Peer;

// Largest payload; the value of GEX_VIS_MAX_PEERCOMPLETION. With it, a run and its data fit the
// smallest medium that a conduit may have.
inline constexpr size_t kMaxPeerCompletion = 256;

// The handler that this thread's next put shall run; handler 0: none.
struct PeerCompletion {
  uint32_t handler = 0;
  uint32_t length = 0;
  const void* source = nullptr;
};
extern thread_local constinit PeerCompletion tls_peer_completion
    __attribute__((tls_model("initial-exec")));

inline bool peer_completion_armed() {
  return __builtin_expect(tls_peer_completion.handler != 0, 0);
}
inline PeerCompletion take_peer_completion() {
  const PeerCompletion out = tls_peer_completion;
  tls_peer_completion = PeerCompletion{};
  return out;
}

// A single attempt to have the handler run at the peer. CWY_OK or CWY_RETRY.
cwy_status try_notify(Peer& peer, uint32_t handler, const void* payload, size_t length);
// From client context: tries until it is out, making progress meanwhile.
void notify(Peer& peer, const PeerCompletion& completion);
// At the target: runs the handler as the 0-argument medium reply it is registered as.
void run_peer_completion(Peer& from, uint32_t handler, void* payload, size_t length);

}  // namespace causeway
